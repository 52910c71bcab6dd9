import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { hostOf, linkText } from '../components/safeHref';

/** A contact of a user. */
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

  /** Address or nick to show. */
  text: string;

  /** URL of the contact, if any. */
  href: string | undefined;
}

/**
 * Returns the contacts of a user, the most useful first: e-mail, Matrix, IRC,
 * GitHub, GitLab, websites, feeds, and the bug tracker's address when it differs.
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
 * Parses a nick as stored in the directory: `irc:/nick`, `irc://server/nick`,
 * `matrix:/nick` or `matrix://server/nick`. Without a server it belongs to the
 * site's own server, which is not known here. Matrix users are linked through
 * matrix.to, which opens the user's client.
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
  // The parameter marks the name as a nick (draft-butcher-irc-url).
  const href =
    server && `${scheme}://${server}/${encodeURIComponent(nick)},isnick`;
  return {
    kind: 'irc',
    text: href ? `${nick} (${hostOf(href) ?? server})` : nick,
    href,
  };
}

function mail(kind: 'email' | 'bugs', address: string): Contact {
  // RFC 6068: other characters than those of a mailbox are percent-encoded.
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
