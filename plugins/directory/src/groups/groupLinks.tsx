import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import type { Group } from '@directory-gateway/backstage-plugin-directory-common';
import { visibleText } from '../components/DirectoryText';
import {
  type DirectoryLink,
  linkIcons,
  siteLink,
  useChatServers,
} from '../components/LinkList';
import {
  type ChatServers,
  hostOf,
  mailHref,
  matrixHref,
  parseChatUri,
  safeHref,
} from '../components/safeHref';
import { directoryTranslationRef } from '../translation';
import styles from './groupLinks.module.css';
import type { ListedGroup } from './useGroups';

/** Group attributes that contain links. */
type LinkedGroup = Pick<
  Group,
  'url' | 'mailing_list' | 'discussion_url' | 'irc'
>;

/**
 * Returns the links of a group: website, mailing list, discussion and channels.
 */
export function groupLinks(
  group: LinkedGroup,
  servers: ChatServers = {},
): DirectoryLink[] {
  const { url, mailing_list, discussion_url, irc } = group;
  return [
    ...(url ? [siteLink('website', url)] : []),
    ...(mailing_list ? [mailingListLink(mailing_list)] : []),
    ...(discussion_url ? [siteLink('discussion', discussion_url)] : []),
    ...(irc ?? []).map(uri => channelLink(uri, servers)),
  ];
}

/**
 * The value is usually an address, in some directories the URL of the list's
 * page.
 */
function mailingListLink(value: string): DirectoryLink {
  return /^[^@\s:/]+@[^@\s:/]+$/.test(value)
    ? { kind: 'mailingList', text: value, href: mailHref(value) }
    : siteLink('mailingList', value);
}

/**
 * `irc:///#channel` opens the channel on the default server of the user's
 * client (draft-butcher-irc-url). A Matrix room without a server has no link.
 */
function channelLink(uri: string, servers: ChatServers): DirectoryLink {
  const chat = parseChatUri(uri, servers);
  if (!chat) {
    return { kind: 'channel', text: uri, href: undefined };
  }
  const { scheme, server, name } = chat;
  const channel = /^[#&+!]/.test(name) ? name : `#${name}`;
  if (scheme === 'matrix') {
    const room = server ? `${channel}:${server}` : undefined;
    return {
      kind: 'matrixRoom',
      text: room ?? channel,
      href: room && matrixHref(room),
    };
  }
  const href = `${scheme}://${server ?? ''}/${encodeURIComponent(channel)}`;
  return {
    kind: 'ircChannel',
    text: server ? `${channel} (${hostOf(href) ?? server})` : channel,
    href,
  };
}

export function LinkIcons({ group }: { group: ListedGroup }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const servers = useChatServers();
  return (
    <span className={styles.icons}>
      {groupLinks(group, servers).map(link => {
        const href = safeHref(link.href ?? '');
        const kind = t(`links.${link.kind}`);
        const text = visibleText(link.text);
        return href ? (
          <ButtonLink
            key={`${kind} ${text}`}
            href={href}
            target={/^https?:/.test(href) ? '_blank' : undefined}
            rel="noopener noreferrer nofollow"
            size="small"
            variant="tertiary"
            aria-label={t('groups.linkOf', {
              kind,
              group: visibleText(group.groupname),
              text,
            })}
            className={styles.icon}
          >
            <span title={`${kind}: ${text}`} aria-hidden="true">
              {linkIcons[link.kind]}
            </span>
          </ButtonLink>
        ) : null;
      })}
    </span>
  );
}
