import { person, karl, SCRIPT_URL } from '../__testUtils__/people';
import { contactsOf } from './contactsOf';

describe('contactsOf', () => {
  it('returns the most useful contacts first', () => {
    expect(contactsOf(karl)).toEqual([
      {
        kind: 'email',
        text: 'karl@example.test',
        href: 'mailto:karl@example.test',
      },
      {
        kind: 'matrix',
        text: '@karl:example.test',
        href: 'https://matrix.to/#/%40karl%3Aexample.test',
      },
      {
        kind: 'irc',
        text: 'karlp (irc.libera.chat)',
        href: 'irc://irc.libera.chat/karlp,isnick',
      },
      { kind: 'github', text: 'karlp', href: 'https://github.com/karlp' },
      {
        kind: 'website',
        text: 'karl.example.test',
        href: 'https://karl.example.test/',
      },
      {
        kind: 'website',
        text: SCRIPT_URL,
        href: SCRIPT_URL, // SafeLink shows it as text
      },
    ]);
  });

  it('does not return a link for a nick without a server', () => {
    const user = person({
      username: 'x',
      ircnicks: ['irc:/nick', 'matrix:/nick', 'just a nick'],
    });
    expect(contactsOf(user)).toEqual([
      { kind: 'matrix', text: 'nick', href: undefined },
      { kind: 'irc', text: 'nick', href: undefined },
      { kind: 'nick', text: 'just a nick', href: undefined },
    ]);
  });

  it('uses the chat servers of the site', () => {
    const user = person({
      username: 'x',
      ircnicks: ['irc:/nick', 'matrix:/nick'],
    });
    const servers = { matrix: 'example.test', irc: 'irc.example.test' };
    expect(contactsOf(user, servers)).toEqual([
      {
        kind: 'matrix',
        text: '@nick:example.test',
        href: 'https://matrix.to/#/%40nick%3Aexample.test',
      },
      {
        kind: 'irc',
        text: 'nick (irc.example.test)',
        href: 'irc://irc.example.test/nick,isnick',
      },
    ]);
  });

  it('returns an address of two fields once', () => {
    const user = person({
      username: 'x',
      emails: ['x@example.test', 'bugs@example.test'],
      rhbzemail: 'bugs@example.test',
    });
    expect(contactsOf(user).map(({ kind, text }) => [kind, text])).toEqual([
      ['email', 'x@example.test'],
      ['email', 'bugs@example.test'],
    ]);
  });

  it('shows the real host of a link', () => {
    const user = person({
      username: 'x',
      ircnicks: ['irc://libera.chat@evil.test/nick'],
      websites: ['https://example.test@evil.test/'],
    });
    expect(contactsOf(user).map(({ text }) => text)).toEqual([
      'nick (evil.test)',
      'evil.test',
    ]);
  });

  it('percent-encodes other characters in addresses and names', () => {
    const user = person({
      username: 'x',
      emails: ['a?bcc=b@example.test'],
      github_username: '../evil',
      rhbzemail: 'bugs@example.test',
    });
    expect(contactsOf(user).map(({ href }) => href)).toEqual([
      'mailto:a%3Fbcc%3Db@example.test',
      'https://github.com/..%2Fevil',
      'mailto:bugs@example.test',
    ]);
  });
});
