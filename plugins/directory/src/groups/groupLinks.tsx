import type { Group } from '@directory-gateway/backstage-plugin-directory-common';
import { hostOf, linkText } from '../components/safeHref';

/** A place where a group is found. */
export interface GroupLink {
  kind: 'url' | 'mailingList' | 'discussion' | 'irc' | 'matrix' | 'other';

  /** What people call it: the address, the channel. */
  text: string;

  /** Where it leads; nothing when there is nowhere to lead. */
  href: string | undefined;
}

/** What the directory says about where a group is found. */
export type LinkedGroup = Pick<
  Group,
  'url' | 'mailing_list' | 'discussion_url' | 'irc'
>;

/**
 * The places where a group is found, the most telling first: its site, list,
 * discussion, channels.
 */
export function groupLinks(group: LinkedGroup): GroupLink[] {
  const { url, mailing_list, discussion_url, irc } = group;
  return [
    ...(url ? [site('url', url)] : []),
    ...(mailing_list ? [mailingList(mailing_list)] : []),
    ...(discussion_url ? [site('discussion', discussion_url)] : []),
    ...(irc ?? []).map(readChannel),
  ];
}

function site(kind: 'url' | 'discussion', url: string): GroupLink {
  return { kind, text: linkText(url), href: url };
}

/** An address as a rule, but some directories have the list's page there. */
function mailingList(value: string): GroupLink {
  const kind = 'mailingList';
  if (/^[^@\s:/]+@[^@\s:/]+$/.test(value)) {
    // RFC 6068: what is no mailbox character is percent-encoded.
    const href = `mailto:${encodeURIComponent(value).replace('%40', '@')}`;
    return { kind, text: value, href };
  }
  return { kind, text: linkText(value), href: value };
}

/**
 * A channel as the directory writes it: `irc://server/#channel`, and without
 * the server `irc:///#channel`, which opens on the one that the reader's client
 * prefers (draft-butcher-irc-url). Matrix rooms are linked through matrix.to,
 * which opens the reader's client, but only with the room's own server.
 */
function readChannel(uri: string): GroupLink {
  const [, scheme, server, rest] =
    uri.match(/^(ircs?|matrix):(?:\/\/([^/]*))?\/([^/]+)$/i) ?? [];
  if (!scheme) {
    return { kind: 'other', text: uri, href: undefined };
  }
  const channel = /^[#&+!]/.test(rest) ? rest : `#${rest}`;
  if (scheme.toLowerCase() === 'matrix') {
    const room = server ? `${channel}:${server}` : undefined;
    return {
      kind: 'matrix',
      text: room ?? channel,
      href: room && `https://matrix.to/#/${encodeURIComponent(room)}`,
    };
  }
  const href = `${scheme.toLowerCase()}://${server ?? ''}/${encodeURIComponent(
    channel,
  )}`;
  return {
    kind: 'irc',
    text: server ? `${channel} (${hostOf(href) ?? server})` : channel,
    href,
  };
}
