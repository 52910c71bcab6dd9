/* eslint-disable no-script-url -- it is what must not get through */
import { safeHref } from './safeHref';

describe('safeHref', () => {
  it.each([
    ['https://example.test/a?b=(c)', 'https://example.test/a?b=(c)'],
    [' http://example.test ', 'http://example.test/'],
    ['mailto:a@example.test', 'mailto:a@example.test'],
    ['irc://irc.libera.chat/karl', 'irc://irc.libera.chat/karl'],
    ['ircs://irc.libera.chat/karl', 'ircs://irc.libera.chat/karl'],
    ['matrix:u/karl:example.test', 'matrix:u/karl:example.test'],
  ])('lets %s through', (text, href) => {
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
  ])('refuses %j', text => {
    expect(safeHref(text)).toBeUndefined();
  });
});
