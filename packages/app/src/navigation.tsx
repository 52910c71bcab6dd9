import {
  Sidebar,
  SidebarDivider,
  SidebarItem,
  SidebarScrollWrapper,
  SidebarSpace,
  useSidebarOpenState,
  useSidebarPinState,
} from '@backstage/core-components';
import {
  coreApis,
  createFrontendModule,
  type IconElement,
  RouterLink,
  useApi,
  useAppLocation,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import {
  NavContentBlueprint,
  type NavContentComponentProps,
  type NavContentNavItem,
} from '@backstage/plugin-app-react';
import { ButtonIcon, Link, Menu, MenuItem, MenuTrigger } from '@backstage/ui';
import { usePalette } from '@directory-gateway/backstage-plugin-directory';
import {
  RiHomeLine,
  RiMenuLine,
  RiNotification3Line,
  RiSearchLine,
  RiSettings3Line,
} from '@remixicon/react';
import styles from './navigation.module.css';
import { isCurrent, useNavigationTitle } from './pageTitle';
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

/** Icons of the pages that have a Material UI icon, unlike the others. */
const icons: Partial<Record<string, IconElement>> = {
  'page:home': <RiHomeLine size={24} />,
  'page:notifications': <RiNotification3Line size={24} />,
  'page:user-settings': <RiSettings3Line size={24} />,
};

/** A page in the navigation. */
interface Entry {
  id: string;
  title: string;
  icon: IconElement;
  href: string;
}

/** What the navigation contains. */
interface NavigationProps {
  home: Entry | undefined;

  /** The pages of the plugins, in order. */
  pages: readonly Entry[];

  /** The notifications and the user's settings. */
  last: readonly Entry[];
}

/** The navigation: a sidebar, or a bar at the bottom of a phone. */
function Navigation({ navItems }: NavContentComponentProps) {
  const { t } = useTranslationRef(portalTranslationRef);
  const { isMobile } = useSidebarPinState();
  const titleOf = ({ node, title }: NavContentNavItem) => {
    const translated = titles[node.spec.id];
    return translated ? t(translated) : title;
  };
  useNavigationTitle(navItems, titleOf);

  const entries = navItems.rest().map(item => {
    const { id } = item.node.spec;
    const icon = icons[id] ?? item.icon;
    return { id, title: titleOf(item), icon, href: item.href };
  });
  const find = (ids: readonly string[]) =>
    ids.flatMap(id => entries.find(entry => entry.id === id) ?? []);
  const [home] = find(['page:home']);
  const first = find(FIRST_PAGES);
  const last = find(['page:notifications', 'page:user-settings']);
  const others = entries
    .filter(entry => ![home, ...first, ...last].includes(entry))
    .sort((a, b) => a.title.localeCompare(b.title));
  const props = { home, pages: [...first, ...others], last };
  return isMobile ? <BottomBar {...props} /> : <SideBar {...props} />;
}

/** The sidebar: the home page, the pages, the user's settings last. */
function SideBar({ home, pages, last }: NavigationProps) {
  const { t } = useTranslationRef(portalTranslationRef);
  const palette = usePalette();
  const toItem = ({ id, title, icon, href }: Entry) => (
    <SidebarItem key={id} icon={() => icon} to={href} text={title} />
  );
  return (
    <Sidebar>
      <Logo />
      <SidebarDivider />
      {home && toItem(home)}
      {palette && (
        <SidebarItem
          icon={() => <RiSearchLine size={24} />}
          text={t('find')}
          onClick={palette.open}
          aria-keyshortcuts={palette.shortcut}
        />
      )}
      <SidebarScrollWrapper>{pages.map(toItem)}</SidebarScrollWrapper>
      <SidebarSpace />
      <SidebarDivider />
      {last.map(toItem)}
    </Sidebar>
  );
}

/** The bar of a phone, with the pages in a menu. */
function BottomBar({ home, pages, last }: NavigationProps) {
  const { t } = useTranslationRef(portalTranslationRef);
  const { pathname } = useAppLocation();
  const palette = usePalette();
  const toLink = ({ id, title, icon, href }: Entry) => (
    <RouterLink
      key={id}
      href={href}
      className={styles.barItem}
      aria-current={isCurrent(pathname, href) ? 'page' : undefined}
    >
      {icon}
      <span>{title}</span>
    </RouterLink>
  );
  return (
    <nav className={styles.bar}>
      {home && toLink(home)}
      {palette && (
        <button
          type="button"
          className={styles.barItem}
          onClick={palette.open}
          aria-keyshortcuts={palette.shortcut}
        >
          <RiSearchLine size={24} />
          <span>{t('find')}</span>
        </button>
      )}
      <MenuTrigger>
        <ButtonIcon
          className={styles.barItem}
          aria-label={t('menu')}
          icon={
            <>
              <RiMenuLine size={24} />
              <span>{t('menu')}</span>
            </>
          }
        />
        <Menu>
          {pages.map(({ id, title, icon, href }) => (
            <MenuItem key={id} href={href} iconStart={icon}>
              {title}
            </MenuItem>
          ))}
        </Menu>
      </MenuTrigger>
      {last.map(toLink)}
    </nav>
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

/**
 * Link to the home page: the logo, with the title while the sidebar is open.
 */
function Logo() {
  const { t } = useTranslationRef(portalTranslationRef);
  const title = useApi(coreApis.config).getString('app.title');
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
