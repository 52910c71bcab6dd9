import {
  type AppHistorySnapshot,
  coreApis,
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

/** Class that keeps secondary text readable in the dark theme. */
export const readable = styles.readable;

/**
 * A directory page: the header with the h1 and breadcrumbs, the document title,
 * and the main landmark, which receives the focus after navigation. Sets the
 * locale of `@backstage/ui` components.
 */
export function DirectoryPage(props: {
  /** Directory area of the page. */
  area: keyof typeof icons;

  /**
   * Title of the page within the area, such as the name of a user. Defaults to
   * none: the overview of the area.
   */
  subject?: string;

  /**
   * Buttons and links on the right of the header; below it on narrow screens.
   */
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

/** Layout of a user or group page: the identity next to the details. */
export function TwoColumns(props: {
  /** Identity of the user or group, which stays in view on the left. */
  subject: ReactNode;

  /** Details: on the right, or below on narrow screens. */
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

/** A page section with a heading. */
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

/**
 * A table with the background of a card. A click on a row opens the same page as
 * the link in the row.
 */
export function LinkTable<Item extends object>(props: {
  columns: readonly ColumnConfig<Item & { id: string }>[];
  items: readonly Item[];

  /** Must be the same function on every render. */
  idOf: (item: Item) => string;
  hrefOf: (item: Item) => string | undefined;

  /** ID of the sort column, with the prefix `-` for descending order. */
  sort?: string;

  /**
   * Called with the new sort order. Defaults to a table that cannot be sorted.
   */
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
 * Moves the focus to the page if navigation removed the focused link. Otherwise
 * the Tab key would start at the top of the portal.
 */
function useFocusOnMount(page: RefObject<HTMLElement>, title: string) {
  const history = useApi(coreApis.appHistory);
  useEffect(() => {
    if (
      document.activeElement === document.body &&
      !isFirstPage(history.getSnapshot())
    ) {
      page.current?.focus({ preventScroll: true });
    }
  }, [history, page, title]);
}

/**
 * Whether this is the first page after loading, where the focus starts at the
 * top. A redirect replaces the entry of the first page.
 */
function isFirstPage({ action }: AppHistorySnapshot): boolean {
  return action !== 'PUSH' && action !== 'POP';
}

function useDocumentTitle(title: string) {
  const app = useApi(coreApis.config).getOptionalString('app.title');

  useEffect(() => {
    const previous = document.title;
    document.title = app ? `${title} · ${app}` : title;
    return () => {
      document.title = previous;
    };
  }, [app, title]);
}
