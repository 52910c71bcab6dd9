import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { hostOf, linkText } from '../components/safeHref';

/** A way to reach somebody. */
export interface Contact {
  kind:
    | 'email'
    | 'matrix'
    | 'irc'
    | 'nick'
    | 'github'
    | 'gitlab'
    | 'website'
    | 'feed'
    | 'bugs';

  /** What people call it: the address, the nick. */
  text: string;

  /** Where it leads; nothing when there is nowhere to lead. */
  href: string | undefined;
}

/**
 * The ways to reach somebody, the most useful first: mail, Matrix, IRC, GitHub,
 * GitLab, sites, feeds, and the bug tracker's address where it is another.
 */
export function contactsOf(person: User): Contact[] {
  const { emails, ircnicks, github_username, gitlab_username } = person;
  const { websites, rssurls, rhbzemail } = person;
  const nicks = (ircnicks ?? []).map(readNick);
  const ofKind = (kind: Contact['kind']) =>
    nicks.filter(nick => nick.kind === kind);

  return [
    ...(emails ?? []).map(address => mail('email', address)),
    ...ofKind('matrix'),
    ...ofKind('irc'),
    ...ofKind('nick'),
    ...forge('github', 'https://github.com/', github_username),
    ...forge('gitlab', 'https://gitlab.com/', gitlab_username),
    ...(websites ?? []).map(url => site('website', url)),
    ...(rssurls ?? []).map(url => site('feed', url)),
    ...(rhbzemail && !emails?.includes(rhbzemail)
      ? [mail('bugs', rhbzemail)]
      : []),
  ];
}

/**
 * A nick as the directory writes it: `irc:/nick` and `irc://server/nick`,
 * `matrix:/nick` and `matrix://server/nick`; without a server it is the site's
 * own, which only the site knows. Matrix people are linked through matrix.to,
 * which opens the reader's client.
 */
function readNick(uri: string): Contact {
  const [, scheme, server, nick] =
    uri.match(/^(ircs?|matrix):(?:\/\/([^/]*))?\/([^/]+)$/i) ?? [];
  if (!scheme) {
    return { kind: 'nick', text: uri, href: undefined };
  }
  if (scheme.toLowerCase() === 'matrix') {
    const id = server ? `@${nick}:${server}` : undefined;
    return {
      kind: 'matrix',
      text: id ?? nick,
      href: id && `https://matrix.to/#/${encodeURIComponent(id)}`,
    };
  }
  // The parameter says that it is a person (draft-butcher-irc-url).
  const href =
    server && `${scheme}://${server}/${encodeURIComponent(nick)},isnick`;
  return {
    kind: 'irc',
    text: href ? `${nick} (${hostOf(href) ?? server})` : nick,
    href,
  };
}

function mail(kind: 'email' | 'bugs', address: string): Contact {
  // RFC 6068: what is no mailbox character is percent-encoded.
  const href = `mailto:${encodeURIComponent(address).replace('%40', '@')}`;
  return { kind, text: address, href };
}

function forge(
  kind: 'github' | 'gitlab',
  base: string,
  name: string | null,
): Contact[] {
  return name
    ? [{ kind, text: name, href: `${base}${encodeURIComponent(name)}` }]
    : [];
}

function site(kind: 'website' | 'feed', url: string): Contact {
  return { kind, text: linkText(url), href: url };
}
