import { aPerson, karl, SCRIPT_URL } from '../__testUtils__/people';
import { contactsOf } from './contactsOf';

describe('contactsOf', () => {
  it('puts the most useful first', () => {
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
        href: SCRIPT_URL, // which SafeLink does not follow
      },
    ]);
  });

  it('leads nowhere for a nick on a server that only the site knows', () => {
    const person = aPerson({
      username: 'x',
      ircnicks: ['irc:/nick', 'matrix:/nick', 'just a nick'],
    });
    expect(contactsOf(person)).toEqual([
      { kind: 'matrix', text: 'nick', href: undefined },
      { kind: 'irc', text: 'nick', href: undefined },
      { kind: 'nick', text: 'just a nick', href: undefined },
    ]);
  });

  it('names the host to which a link leads', () => {
    const person = aPerson({
      username: 'x',
      ircnicks: ['irc://libera.chat@evil.test/nick'],
      websites: ['https://example.test@evil.test/'],
    });
    expect(contactsOf(person).map(({ text }) => text)).toEqual([
      'nick (evil.test)',
      'evil.test',
    ]);
  });

  it('encodes what is no part of an address or a name', () => {
    const person = aPerson({
      username: 'x',
      emails: ['a?bcc=b@example.test'],
      github_username: '../evil',
      rhbzemail: 'bugs@example.test',
    });
    expect(contactsOf(person).map(({ href }) => href)).toEqual([
      'mailto:a%3Fbcc%3Db@example.test',
      'https://github.com/..%2Fevil',
      'mailto:bugs@example.test',
    ]);
  });
});
