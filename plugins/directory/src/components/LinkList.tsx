import type { ReactElement } from 'react';
import { SafeLink } from '../links/SafeLink';
import { CopyButton } from './CopyButton';
import { DirectoryText } from './DirectoryText';
import styles from './LinkList.module.css';

/** A way to somebody or something. */
export interface ListedLink {
  /** What kind of link it is, in words. */
  kind: string;
  icon: ReactElement;
  text: string;

  /** Nothing where there is a name only. */
  href?: string;

  /** What the button does that copies the text. */
  copyLabel: string;
}

/** Options of {@link LinkList}. */
export interface LinkListProps {
  label: string;
  links: readonly ListedLink[];
}

/** Links out of the portal, each with its kind, and to copy. */
export function LinkList({ label, links }: LinkListProps) {
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
