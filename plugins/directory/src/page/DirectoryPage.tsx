import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Container, PluginHeader, useBreakpoint } from '@backstage/ui';
import { RiGroupLine, RiShieldKeyholeLine, RiTeamLine } from '@remixicon/react';
import { type ReactNode, useRef } from 'react';
import { visibleText } from '../components/DirectoryText';
import {
  certificatesRouteRef,
  groupsRouteRef,
  peopleRouteRef,
} from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './DirectoryPage.module.css';
import { readable } from './readable';
import { useArrivalFocus } from './useArrivalFocus';
import { useDocumentTitle } from './useDocumentTitle';

const icons = {
  people: <RiTeamLine />,
  groups: <RiGroupLine />,
  certificates: <RiShieldKeyholeLine />,
};

/** Options of {@link DirectoryPage}. */
export interface DirectoryPageProps {
  /** Which part of the directory the page belongs to. */
  room: 'people' | 'groups' | 'certificates';

  /** The person or group that it is about; without it, the room's own page. */
  subject?: string;

  /** Buttons and links at the right of the header; beneath it when narrow. */
  actions?: ReactNode;

  children: ReactNode;
}

/**
 * A page of the directory: its header with the one h1, the way back, the title
 * of the browser's tab, and the main landmark, which takes the focus of
 * whoever arrives by a link.
 */
export function DirectoryPage(props: DirectoryPageProps) {
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
