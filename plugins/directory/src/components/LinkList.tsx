import { Link, Text } from '@backstage/ui';
import type { ReactElement, ReactNode } from 'react';
import { CopyButton } from './CopyButton';
import { DirectoryText } from './DirectoryText';
import styles from './LinkList.module.css';
import { safeHref } from './safeHref';

/** A link, or a name without a link. */
interface ListedLink {
  /** Kind of the link, as text. */
  kind: string;
  icon: ReactElement;
  text: string;

  /** URL of the link; a name only without it. */
  href?: string;

  /** Label of the button that copies the text. */
  copyLabel: string;
}

/** Links out of the portal, each with its kind and a copy button. */
export function LinkList(props: {
  label: string;
  links: readonly ListedLink[];
}) {
  const { label, links } = props;
  return (
    <ul className={styles.links} aria-label={label}>
      {links.map(({ kind, icon, text, href = '', copyLabel }) => (
        <li key={`${kind} ${text}`} className={styles.link}>
          <span
            role="img"
            aria-label={kind}
            title={kind}
            className={styles.icon}
          >
            {icon}
          </span>
          <span className={styles.value}>
            <SafeLink href={href}>
              <DirectoryText value={text} />
            </SafeLink>
          </span>
          <span className={styles.copy}>
            <CopyButton value={text} label={copyLabel} />
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
  const isPage = /^https?:/.test(safe);
  return (
    <Link
      href={safe}
      target={isPage ? '_blank' : undefined}
      rel="noopener noreferrer nofollow"
      standalone
    >
      {children}
    </Link>
  );
}
