import {
  configApiRef,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import {
  RiBug2Line,
  RiChat3Line,
  RiDiscussLine,
  RiGithubFill,
  RiGitlabFill,
  RiGlobalLine,
  RiHashtag,
  RiMailLine,
  RiMessage3Line,
  RiRssLine,
} from '@remixicon/react';
import type { ReactElement, ReactNode } from 'react';
import { directoryTranslationRef } from '../translation';
import { CopyButton } from './CopyButton';
import { DirectoryText, visibleText } from './DirectoryText';
import styles from './LinkList.module.css';
import { type ChatServers, safeHref } from './safeHref';

/** Icons of the kinds of links; the messages `links` have their names. */
export const linkIcons = {
  email: <RiMailLine />,
  mailingList: <RiMailLine />,
  matrix: <RiMessage3Line />,
  matrixRoom: <RiMessage3Line />,
  irc: <RiHashtag />,
  ircChannel: <RiHashtag />,
  nick: <RiChat3Line />,
  channel: <RiChat3Line />,
  discussion: <RiDiscussLine />,
  github: <RiGithubFill />,
  gitlab: <RiGitlabFill />,
  website: <RiGlobalLine />,
  feed: <RiRssLine />,
  bugs: <RiBug2Line />,
} satisfies Record<string, ReactElement>;

/** A link of a user or a group, or a name without a link. */
export interface DirectoryLink {
  kind: keyof typeof linkIcons;

  /** Address, nick or channel to show. */
  text: string;
  href: string | undefined;
}

/** Returns the site's chat servers from the configuration. */
export function useChatServers(): ChatServers {
  const config = useApi(configApiRef);
  const server = (scheme: string) =>
    config.getOptionalString(`directory.pages.chatServers.${scheme}`);
  return { matrix: server('matrix'), irc: server('irc') };
}

/** Links out of the portal, each with its kind and a copy button. */
export function LinkList(props: {
  label: string;
  links: readonly DirectoryLink[];
  empty: ReactNode;
}) {
  const { label, links, empty } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  if (links.length === 0) {
    return (
      <Text as="p" variant="body-small" color="secondary">
        {empty}
      </Text>
    );
  }
  return (
    <ul className={styles.links} aria-label={label}>
      {links.map(({ kind, text, href = '' }) => (
        <li key={`${kind} ${text}`} className={styles.link}>
          <span aria-hidden="true" className={styles.icon}>
            {linkIcons[kind]}
          </span>
          <span className={styles.value}>
            <span className={styles.kind}>{t(`links.${kind}`)}</span>
            <SafeLink href={href}>
              <DirectoryText value={text} />
            </SafeLink>
          </span>
          <span className={styles.copy}>
            <CopyButton
              value={text}
              label={t(`copy.link.${kind}`, { value: visibleText(text) })}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}

/**
 * A link out of the portal to a URL of the directory, or plain text when the
 * URL is not safe to follow.
 */
function SafeLink(props: {
  /** URL as stored in the directory. */
  href: string;

  children: ReactNode;
}) {
  const { href, children } = props;
  const safe = safeHref(href);
  if (!safe) {
    return <Text as="span">{children}</Text>;
  }
  return (
    <Link
      href={safe}
      target={/^https?:/.test(safe) ? '_blank' : undefined}
      rel="noopener noreferrer nofollow"
      standalone
    >
      {children}
    </Link>
  );
}
