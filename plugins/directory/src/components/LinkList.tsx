import {
  coreApis,
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
import { type ChatServers, linkText, safeHref } from './safeHref';

/** Icons by kind of link; the `links` messages contain the names. */
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

/** A contact or website of a user or a group, if possible with a link. */
export interface DirectoryLink {
  kind: keyof typeof linkIcons;

  /** Displayed address, nick or channel. */
  text: string;
  href: string | undefined;
}

/** Returns the link of a website, with its host and path as the text. */
export function siteLink(
  kind: DirectoryLink['kind'],
  url: string,
): DirectoryLink {
  return { kind, text: linkText(url), href: url };
}

/** Returns the configured chat servers of the site. */
export function useChatServers(): ChatServers {
  const config = useApi(coreApis.config);
  const server = (scheme: string) =>
    config.getOptionalString(`directory.pages.chatServers.${scheme}`);
  return { matrix: server('matrix'), irc: server('irc') };
}

/** External links, each with its kind and a copy button. */
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
 * An external link to a URL from the directory, or plain text if the URL is not
 * safe.
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
