import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { Box, Container, PluginHeader, useBreakpoint } from '@backstage/ui';
import { RiGroupLine, RiShieldKeyholeLine, RiTeamLine } from '@remixicon/react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { visibleText } from '../components/DirectoryText';
import {
  certificatesRouteRef,
  groupsRouteRef,
  peopleRouteRef,
} from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './DirectoryPage.module.css';

const icons = {
  people: <RiTeamLine />,
  groups: <RiGroupLine />,
  certificates: <RiShieldKeyholeLine />,
};

/** Class of popovers with secondary text: readable in the dark theme. */
export const readable = styles.readable;

/**
 * A page of the directory: the header with its h1 and breadcrumbs, the title of
 * the browser tab, and the main landmark, which takes the focus after
 * navigation.
 */
export function DirectoryPage(props: {
  /** Part of the directory that the page belongs to. */
  room: 'people' | 'groups' | 'certificates';

  /** User or group of the page. Defaults to none: the overview of the part. */
  subject?: string;

  /** Buttons and links at the right of the header; beneath it when narrow. */
  actions?: ReactNode;

  children: ReactNode;
}) {
  const { room, subject, actions, children } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const hrefs = {
    people: useRouteRef(peopleRouteRef)?.() ?? '/',
    groups: useRouteRef(groupsRouteRef)?.() ?? '/',
    certificates: useRouteRef(certificatesRouteRef)?.() ?? '/',
  };
  const main = useRef<HTMLElement>(null);
  const hasRoom = useBreakpoint().up('sm');

  const href = hrefs[room];
  const title = visibleText(subject ?? t(`page.${room}`));
  useDocumentTitle(title);
  useArrivalFocus(main, title);

  return (
    <main ref={main} tabIndex={-1} className={`${styles.main} ${readable}`}>
      <div className={styles.sheet}>
        <PluginHeader
          icon={icons[room]}
          title={title}
          titleLink={href}
          breadcrumbs={
            subject
              ? [
                  { label: t(`page.${room}`), href },
                  { label: title, href: `${href}/${subject}` },
                ]
              : undefined
          }
          customActions={hasRoom ? actions : undefined}
        />
        <Container>
          {!hasRoom && actions && (
            <div className={styles.actions}>{actions}</div>
          )}
          {children}
        </Container>
      </div>
    </main>
  );
}

/** Layout of a user or group page: the identity beside the details. */
export function SideBySide(props: {
  /** Identity of the user or group, which stays in view at the left. */
  subject: ReactNode;

  /** Details: at the right, or below on a narrow screen. */
  children: ReactNode;

  /** Label of the status while loading, when the content is a skeleton. */
  loadingLabel?: string;
}) {
  const { subject, children, loadingLabel } = props;
  return (
    <div
      className={styles.columns}
      role={loadingLabel ? 'status' : undefined}
      aria-label={loadingLabel}
    >
      <div className={styles.subject}>{subject}</div>
      <div className={styles.details}>{children}</div>
    </div>
  );
}

/** Gives a table the background of cards and subtle lines. */
export function TableGround({ children }: { children: ReactNode }) {
  return (
    <Box bg="neutral" className={styles.ground}>
      {children}
    </Box>
  );
}

/**
 * Moves the focus to the page after navigation, when the link that had it was
 * removed; otherwise the next Tab would start at the top of the portal.
 */
function useArrivalFocus(page: RefObject<HTMLElement>, title: string) {
  useEffect(() => {
    if (document.activeElement === document.body && !isFirstPage()) {
      page.current?.focus({ preventScroll: true });
    }
  }, [page, title]);
}

/** Whether the browser loaded this page, so that the focus starts at the top. */
function isFirstPage(): boolean {
  return (window.history.state?.idx ?? 0) === 0; // index kept by React Router
}

/** Sets the title of the browser tab while the page is open. */
function useDocumentTitle(title: string) {
  const app = useApi(configApiRef).getOptionalString('app.title');

  useEffect(() => {
    const previous = document.title;
    document.title = app ? `${title} · ${app}` : title;
    return () => {
      document.title = previous;
    };
  }, [app, title]);
}
