import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import type { Group } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiChat3Line,
  RiDiscussLine,
  RiGlobalLine,
  RiHashtag,
  RiMailLine,
  RiMessage3Line,
} from '@remixicon/react';
import type { ReactElement } from 'react';
import { visibleText } from '../components/DirectoryText';
import { hostOf, linkText, safeHref } from '../components/safeHref';
import { directoryTranslationRef } from '../translation';
import styles from './groupLinks.module.css';
import type { ListedGroup } from './useGroups';

/** A link of a group. */
interface GroupLink {
  kind: 'url' | 'mailingList' | 'discussion' | 'irc' | 'matrix' | 'other';

  /** Address or channel to show. */
  text: string;

  /** URL of the link, if any. */
  href: string | undefined;
}

/** Attributes of a group that contain links. */
type LinkedGroup = Pick<
  Group,
  'url' | 'mailing_list' | 'discussion_url' | 'irc'
>;

/**
 * Returns the links of a group: website, mailing list, discussion, channels.
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

/** Usually an address, in some directories the URL of the list's page. */
function mailingList(value: string): GroupLink {
  const kind = 'mailingList';
  if (/^[^@\s:/]+@[^@\s:/]+$/.test(value)) {
    // RFC 6068: other characters than those of a mailbox are percent-encoded.
    const href = `mailto:${encodeURIComponent(value).replace('%40', '@')}`;
    return { kind, text: value, href };
  }
  return { kind, text: linkText(value), href: value };
}

/**
 * Parses a channel as stored in the directory: `irc://server/#channel`, or
 * `irc:///#channel`, which opens on the default server of the user's client
 * (draft-butcher-irc-url). Matrix rooms are linked through matrix.to, which opens
 * the user's client, but only with the server of the room.
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

const icons: Record<GroupLink['kind'], ReactElement> = {
  url: <RiGlobalLine aria-hidden="true" />,
  mailingList: <RiMailLine aria-hidden="true" />,
  discussion: <RiDiscussLine aria-hidden="true" />,
  irc: <RiHashtag aria-hidden="true" />,
  matrix: <RiMessage3Line aria-hidden="true" />,
  other: <RiChat3Line aria-hidden="true" />,
};

/** Decorative icon of a kind of link. */
export function GroupLinkIcon({ kind }: Pick<GroupLink, 'kind'>) {
  return icons[kind];
}

/** The links of a group, as icons. */
export function LinkIcons({ group }: { group: ListedGroup }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <span className={styles.icons}>
      {groupLinks(group).map(({ kind, text, href }) => {
        const safe = safeHref(href ?? '');
        const words = t('groups.linkOf', {
          kind: t(`groups.link.${kind}`),
          group: visibleText(group.groupname),
          text: visibleText(text),
        });
        return safe ? (
          <ButtonLink
            key={`${kind} ${text}`}
            href={safe}
            target={/^https?:/.test(safe) ? '_blank' : undefined}
            rel="noopener noreferrer nofollow"
            size="small"
            variant="tertiary"
            aria-label={words}
            className={styles.icon}
          >
            <span title={`${t(`groups.link.${kind}`)}: ${visibleText(text)}`}>
              <GroupLinkIcon kind={kind} />
            </span>
          </ButtonLink>
        ) : null;
      })}
    </span>
  );
}
