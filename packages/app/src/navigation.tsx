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
} from '@backstage/plugin-app-react';
import { Link } from '@backstage/ui';
import {
  RiMenuLine,
  RiNotification3Line,
  RiSettings3Line,
} from '@remixicon/react';
import styles from './navigation.module.css';
import { portalTranslationRef } from './translation';

type PageTitle = Extract<keyof typeof portalTranslationRef.T, `page.${string}`>;

/** Titles of pages that are translated: Backstage has them in English only. */
const titles: Partial<Record<string, PageTitle>> = {
  'page:catalog': 'page.catalog',
  'page:directory/certificates': 'page.certificates',
  'page:directory/groups': 'page.groups',
  'page:directory/people': 'page.people',
  'page:notifications': 'page.notifications',
  'page:search': 'page.search',
  'page:user-settings': 'page.settings',
};

/**
 * The sidebar: the pages of all plugins by title, the user's settings last. On a
 * phone, a bar at the bottom: the pages in a menu, the notifications and the
 * settings.
 */
function Navigation({ navItems }: NavContentComponentProps) {
  const { t } = useTranslationRef(portalTranslationRef);
  const entries = navItems.withComponent(item => {
    const title = titles[item.node.spec.id];
    return (
      <SidebarItem
        icon={() => item.icon}
        to={item.href}
        text={title ? t(title) : item.title}
      />
    );
  });
  // Taken before the rest, otherwise it would be listed twice.
  const settings = entries.take('page:user-settings');
  // The plugin's own entry restores the previous title of the browser tab up to
  // 100 ms late.
  const notifications = entries.take('page:notifications');

  return (
    <Sidebar>
      <Logo />
      <SidebarDivider />
      <SidebarGroup label={t('menu')} icon={<RiMenuLine size={24} />}>
        <SidebarScrollWrapper>
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

/** Link to the home page: the logo, and the title while the sidebar is open. */
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
  extensions: [NavContentBlueprint.make({ params: { component: Navigation } })],
});
