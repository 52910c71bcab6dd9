import { useSidebarOpenState } from '@backstage/core-components';
import { configApiRef, useApi } from '@backstage/frontend-plugin-api';
import { Link } from '@backstage/ui';
import styles from './Logo.module.css';

/** The way home: the portal's mark, and its title while the side bar is open. */
export function Logo() {
  const title = useApi(configApiRef).getString('app.title');
  const { isOpen } = useSidebarOpenState();

  return (
    <Link href="/" className={styles.logo} aria-label={`${title}, home`}>
      <svg viewBox="0 0 32 32" className={styles.mark} aria-hidden="true">
        <path className={styles.arch} d="M7 26V14a9 9 0 0 1 18 0v12" />
        <circle className={styles.person} cx="16" cy="15" r="3.5" />
        <path className={styles.person} d="M10 26a6 6 0 0 1 12 0" />
      </svg>
      {isOpen && <span className={styles.title}>{title}</span>}
    </Link>
  );
}
