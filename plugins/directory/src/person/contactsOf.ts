import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { type DirectoryLink, siteLink } from '../components/LinkList';
import {
  type ChatServers,
  hostOf,
  mailHref,
  matrixHref,
  parseChatUri,
} from '../components/safeHref';

/** User fields with contact details. */
type ContactFields = Pick<
  User,
  | 'emails'
  | 'ircnicks'
  | 'github_username'
  | 'gitlab_username'
  | 'websites'
  | 'rssurls'
  | 'rhbzemail'
>;

/**
 * Returns the contacts of a user, most useful first: e-mail, Matrix, IRC, other
 * nicks, GitHub, GitLab, websites, feeds, and the bug tracker e-mail if it
 * differs.
 */
export function contactsOf(
  person: ContactFields,
  servers: ChatServers = {},
): DirectoryLink[] {
  const { emails, ircnicks, github_username, gitlab_username } = person;
  const { websites, rssurls, rhbzemail } = person;
  const nicks = (ircnicks ?? []).map(uri => nickLink(uri, servers));
  const ofKind = (kind: DirectoryLink['kind']) =>
    nicks.filter(nick => nick.kind === kind);

  return [
    ...(emails ?? []).map(address => mailLink('email', address)),
    ...ofKind('matrix'),
    ...ofKind('irc'),
    ...ofKind('nick'),
    ...accountLink('github', 'https://github.com/', github_username),
    ...accountLink('gitlab', 'https://gitlab.com/', gitlab_username),
    ...(websites ?? []).map(url => siteLink('website', url)),
    ...(rssurls ?? []).map(url => siteLink('feed', url)),
    ...(rhbzemail && !emails?.includes(rhbzemail)
      ? [mailLink('bugs', rhbzemail)]
      : []),
  ];
}

/** A nick without a server has no link. */
function nickLink(uri: string, servers: ChatServers): DirectoryLink {
  const chat = parseChatUri(uri, servers);
  if (!chat) {
    return { kind: 'nick', text: uri, href: undefined };
  }
  const { scheme, server, name } = chat;
  if (scheme === 'matrix') {
    const id = server ? `@${name}:${server}` : undefined;
    return { kind: 'matrix', text: id ?? name, href: id && matrixHref(id) };
  }
  // The parameter marks the name as a nick (draft-butcher-irc-url).
  const href =
    server && `${scheme}://${server}/${encodeURIComponent(name)},isnick`;
  return {
    kind: 'irc',
    text: href ? `${name} (${hostOf(href) ?? server})` : name,
    href: href || undefined,
  };
}

function mailLink(kind: 'email' | 'bugs', address: string): DirectoryLink {
  return { kind, text: address, href: mailHref(address) };
}

function accountLink(
  kind: 'github' | 'gitlab',
  base: string,
  name: string | null,
): DirectoryLink[] {
  return name
    ? [{ kind, text: name, href: `${base}${encodeURIComponent(name)}` }]
    : [];
}
