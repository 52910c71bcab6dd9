import {
  Sidebar,
  SidebarDivider,
  SidebarGroup,
  SidebarItem,
  SidebarScrollWrapper,
  SidebarSpace,
  useSidebarOpenState,
} from '@backstage/core-components';
import {
  configApiRef,
  createFrontendModule,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import {
  NavContentBlueprint,
  type NavContentComponentProps,
  type NavContentNavItem,
} from '@backstage/plugin-app-react';
import { Link } from '@backstage/ui';
import { usePalette } from '@directory-gateway/backstage-plugin-directory';
import {
  RiHomeLine,
  RiMenuLine,
  RiNotification3Line,
  RiSearchLine,
  RiSettings3Line,
} from '@remixicon/react';
import styles from './navigation.module.css';
import { useNavigationTitle } from './pageTitle';
import { portalTranslationRef } from './translation';

/** IDs of the pages that come first. Other pages follow, sorted by title. */
const FIRST_PAGES = [
  'page:directory/people',
  'page:directory/groups',
  'page:directory/certificates',
  'page:catalog',
];

type PageTitle = Extract<keyof typeof portalTranslationRef.T, `page.${string}`>;

/** Messages for page titles that Backstage has only in English. */
const titles: Partial<Record<string, PageTitle>> = {
  'page:catalog': 'page.catalog',
  'page:directory/certificates': 'page.certificates',
  'page:directory/groups': 'page.groups',
  'page:directory/people': 'page.people',
  'page:home': 'page.home',
  'page:notifications': 'page.notifications',
  'page:search': 'page.search',
  'page:user-settings': 'page.settings',
};

/**
 * The sidebar: the home page, the pages of all plugins, and the user's settings
 * last. On phones, a bar at the bottom with the home page, a menu of pages, the
 * notifications and the settings.
 */
function Navigation({ navItems }: NavContentComponentProps) {
  const { t } = useTranslationRef(portalTranslationRef);
  const titleOf = (item: NavContentNavItem) => {
    const title = titles[item.node.spec.id];
    return title ? t(title) : item.title;
  };
  useNavigationTitle(navItems, titleOf);
  const entries = navItems.withComponent(item => (
    <SidebarItem icon={() => item.icon} to={item.href} text={titleOf(item)} />
  ));
  const home = navItems.take('page:home');
  // Taken before the rest, so that they are not listed twice.
  const firstPages = FIRST_PAGES.map(id => entries.take(id));
  const settings = entries.take('page:user-settings');
  // The entry of the plugin itself restores the previous document title with a
  // delay of up to 100 ms.
  const notifications = entries.take('page:notifications');
  const palette = usePalette();

  return (
    <Sidebar>
      <Logo />
      <SidebarDivider />
      {home && (
        <SidebarGroup
          label={titleOf(home)}
          icon={<RiHomeLine size={24} />}
          to={home.href}
        >
          <SidebarItem icon={HomeIcon} to={home.href} text={titleOf(home)} />
        </SidebarGroup>
      )}
      {palette && (
        <SidebarItem
          icon={() => <RiSearchLine size={24} />}
          text={t('find')}
          onClick={palette.open}
          aria-keyshortcuts={palette.shortcut}
        />
      )}
      <SidebarGroup label={t('menu')} icon={<RiMenuLine size={24} />}>
        <SidebarScrollWrapper>
          {firstPages}
          {entries.rest({ sortBy: 'title' })}
        </SidebarScrollWrapper>
      </SidebarGroup>
      <SidebarSpace />
      <SidebarDivider />
      {notifications && (
        <SidebarGroup
          label={t('page.notifications')}
          icon={<RiNotification3Line size={24} />}
          to="/notifications"
        >
          {notifications}
        </SidebarGroup>
      )}
      <SidebarGroup
        label={t('page.settings')}
        icon={<RiSettings3Line size={24} />}
        to="/settings"
      >
        {settings}
      </SidebarGroup>
    </Sidebar>
  );
}

/** Moves the focus past the navigation. Visible while it has the focus. */
function SkipLink() {
  const { t } = useTranslationRef(portalTranslationRef);
  return (
    <button type="button" className={styles.skip} onClick={focusContent}>
      {t('skip')}
    </button>
  );
}

/** Focuses the main landmark of the page, or its heading if it has none. */
function focusContent() {
  const content =
    document.querySelector<HTMLElement>('main') ??
    document.querySelector<HTMLElement>('h1');
  if (content) {
    content.tabIndex = -1;
    content.focus();
  }
}

/** Remix icon, like the other icons, instead of a Material UI icon. */
function HomeIcon() {
  return <RiHomeLine size={24} />;
}

/**
 * Link to the home page: the logo, with the title while the sidebar is open.
 */
function Logo() {
  const { t } = useTranslationRef(portalTranslationRef);
  const title = useApi(configApiRef).getString('app.title');
  const { isOpen } = useSidebarOpenState();

  return (
    <Link href="/" className={styles.logo} aria-label={t('home', { title })}>
      <svg viewBox="0 0 32 32" className={styles.mark} aria-hidden="true">
        <path className={styles.arch} d="M7 26V14a9 9 0 0 1 18 0v12" />
        <circle className={styles.person} cx="16" cy="15" r="3.5" />
        <path className={styles.person} d="M10 26a6 6 0 0 1 12 0" />
      </svg>
      {isOpen && <span className={styles.title}>{title}</span>}
    </Link>
  );
}

/** Replaces the app's default navigation with the portal's own. */
export const navigationModule = createFrontendModule({
  pluginId: 'app',
  extensions: [
    NavContentBlueprint.make({
      params: {
        component: props => (
          <>
            <SkipLink />
            <Navigation {...props} />
          </>
        ),
      },
    }),
  ],
});
