import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import {
  Box,
  Card,
  type ColumnConfig,
  Container,
  PluginHeader,
  Table,
  Text,
  useBreakpoint,
} from '@backstage/ui';
import {
  RiContactsBookLine,
  RiGroupLine,
  RiShieldKeyholeLine,
} from '@remixicon/react';
import {
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useMemo,
  useRef,
} from 'react';
import { I18nProvider } from 'react-aria-components';
import { visibleText } from '../components/DirectoryText';
import { locale } from '../language';
import {
  certificatesRouteRef,
  groupsRouteRef,
  peopleRouteRef,
} from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './DirectoryPage.module.css';

const icons = {
  people: <RiContactsBookLine />,
  groups: <RiGroupLine />,
  certificates: <RiShieldKeyholeLine />,
};

/** Class of popovers with secondary text: readable in the dark theme. */
export const readable = styles.readable;

/**
 * A page of the directory: the header with its h1 and breadcrumbs, the title of
 * the browser tab, and the main landmark, which takes the focus after
 * navigation. Components of `@backstage/ui` use the locale of the page.
 */
export function DirectoryPage(props: {
  /** Area of the directory that the page belongs to. */
  area: keyof typeof icons;

  /** User or group of the page. Defaults to none: the overview of the area. */
  subject?: string;

  /** Buttons and links at the right of the header; beneath it when narrow. */
  actions?: ReactNode;

  children: ReactNode;
}) {
  const { area, subject, actions, children } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const hrefs = {
    people: useRouteRef(peopleRouteRef)?.() ?? '/',
    groups: useRouteRef(groupsRouteRef)?.() ?? '/',
    certificates: useRouteRef(certificatesRouteRef)?.() ?? '/',
  };
  const main = useRef<HTMLElement>(null);
  const isWide = useBreakpoint().up('sm');

  const href = hrefs[area];
  const title = visibleText(subject ?? t(`page.${area}`));
  useDocumentTitle(title);
  useFocusOnMount(main, title);

  return (
    <I18nProvider locale={locale()}>
      <main ref={main} tabIndex={-1} className={`${styles.main} ${readable}`}>
        <div className={styles.sheet}>
          <PluginHeader
            icon={icons[area]}
            title={title}
            titleLink={href}
            breadcrumbs={
              subject
                ? [
                    { label: t(`page.${area}`), href },
                    { label: title, href: `${href}/${subject}` },
                  ]
                : undefined
            }
            customActions={isWide ? actions : undefined}
          />
          <Container>
            {!isWide && actions && (
              <div className={styles.actions}>{actions}</div>
            )}
            {children}
          </Container>
        </div>
      </main>
    </I18nProvider>
  );
}

/** Layout of a user or group page: the identity beside the details. */
export function TwoColumns(props: {
  /** Identity of the user or group, which stays in view at the left. */
  subject: ReactNode;

  /** Details: at the right, or below on a narrow screen. */
  children: ReactNode;

  /** Whether the content is a skeleton. Defaults to false. */
  isLoading?: boolean;
}) {
  const { subject, children, isLoading = false } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <div
      className={styles.columns}
      role={isLoading ? 'status' : undefined}
      aria-label={isLoading ? t('states.loading') : undefined}
    >
      <div className={styles.subject}>{subject}</div>
      <div className={styles.details}>{children}</div>
    </div>
  );
}

/** A card in the left column. */
export function SubjectCard({ children }: { children: ReactNode }) {
  return <Card className={styles.card}>{children}</Card>;
}

/** A section of a page with a heading. */
export function Section(props: {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;

  /** Whether the section has a background. Defaults to false. */
  isCard?: boolean;

  children: ReactNode;
}) {
  const { title, note, actions, isCard = false, children } = props;
  const heading = useId();
  return (
    <Box
      as="section"
      bg={isCard ? 'neutral' : undefined}
      className={isCard ? styles.sectionCard : undefined}
      aria-labelledby={heading}
    >
      <div className={styles.sectionHeader}>
        <div className={styles.sectionTitle}>
          <Text as="h2" id={heading} variant="title-x-small" weight="bold">
            {title}
          </Text>
          {note && (
            <Text as="p" variant="body-medium" color="secondary">
              {note}
            </Text>
          )}
        </div>
        {actions}
      </div>
      {children}
    </Box>
  );
}

/** A table whose rows are links, with the background of cards. */
export function LinkTable<Item extends object>(props: {
  columns: readonly ColumnConfig<Item & { id: string }>[];
  items: readonly Item[];

  /** Must be the same function in each render. */
  idOf: (item: Item) => string;
  hrefOf: (item: Item) => string | undefined;

  /** Id of the column that sorts the items, after `-` when descending. */
  sort?: string;

  /** Defaults to a table that cannot be sorted. */
  onSort?: (sort: string) => void;
}) {
  const { columns, items, idOf, hrefOf, sort, onSort } = props;
  const rows = useMemo(
    () => items.map(item => ({ ...item, id: idOf(item) })),
    [items, idOf],
  );
  return (
    <Box bg="neutral" className={styles.table}>
      <Table
        columnConfig={columns}
        data={rows}
        pagination={{ type: 'none' }}
        rowConfig={{ getHref: hrefOf }}
        sort={
          onSort && {
            descriptor: sort
              ? {
                  column: sort.replace(/^-/, ''),
                  direction: sort.startsWith('-') ? 'descending' : 'ascending',
                }
              : null,
            onSortChange: ({ column, direction }) =>
              onSort(direction === 'descending' ? `-${column}` : `${column}`),
          }
        }
      />
    </Box>
  );
}

/**
 * Moves the focus to the page after navigation, when the link that had it was
 * removed; otherwise the next Tab would start at the top of the portal.
 */
function useFocusOnMount(page: RefObject<HTMLElement>, title: string) {
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
