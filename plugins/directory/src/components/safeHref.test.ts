/* eslint-disable no-script-url -- tests that such URLs are rejected */
import { hostOf, linkText, safeHref } from './safeHref';

describe('safeHref', () => {
  it.each([
    ['https://example.test/a?b=(c)', 'https://example.test/a?b=(c)'],
    [' http://example.test ', 'http://example.test/'],
    ['mailto:a@example.test', 'mailto:a@example.test'],
    ['irc://irc.libera.chat/karl', 'irc://irc.libera.chat/karl'],
    ['ircs://irc.libera.chat/karl', 'ircs://irc.libera.chat/karl'],
    ['matrix:u/karl:example.test', 'matrix:u/karl:example.test'],
  ])('accepts %s', (text, href) => {
    expect(safeHref(text)).toBe(href);
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.test/x',
    '/catalog',
    '//example.test',
    'example.test',
    '',
  ])('rejects %j', text => {
    expect(safeHref(text)).toBeUndefined();
  });
});

describe('linkText', () => {
  it.each([
    ['https://example.test/', 'example.test'],
    ['https://example.test/a/?b=1#c', 'example.test/a/?b=1#c'],
    // The part before the @ is not the host.
    ['https://bank.test@evil.test/', 'evil.test'],
    ['https://bank.test%2F@evil.test/x', 'evil.test/x'],
    ['irc://bank.test@evil.test/nick', 'irc://evil.test/nick'],
    // A Cyrillic letter, and a path that reads as a host from right to left.
    ['https://ex\u0430mple.test', 'xn--exmple-4nf.test'],
    ['https://evil.test/\u202etset.knab', 'evil.test/%E2%80%AEtset.knab'],
    ['https:\\\\evil.test', 'evil.test'],
    ['mailto:a@example.test', 'mailto:a@example.test'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
    ['come to room 3', 'come to room 3'],
  ])('shows %j as %s', (url, text) => {
    expect(linkText(url)).toBe(text);
  });
});

describe('hostOf', () => {
  it.each([
    ['irc://bank.test@evil.test:6667/nick', 'evil.test:6667'],
    ['irc:///nick', undefined],
    ['javascript://bank.test/%0aalert(1)', undefined],
  ])('parses %s to the host %s', (url, host) => {
    expect(hostOf(url)).toBe(host);
  });
});
