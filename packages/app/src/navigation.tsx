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
} from '@backstage/frontend-plugin-api';
import {
  NavContentBlueprint,
  type NavContentComponentProps,
} from '@backstage/plugin-app-react';
import { Link } from '@backstage/ui';
import { usePalette } from '@directory-gateway/backstage-plugin-directory';
import {
  RiMenuLine,
  RiNotification3Line,
  RiSearchLine,
  RiSettings3Line,
} from '@remixicon/react';
import styles from './navigation.module.css';

/**
 * The sidebar: the pages of all plugins by title, the user's settings last. On a
 * phone, a bar at the bottom: the pages in a menu, the notifications and the
 * settings.
 */
function Navigation({ navItems }: NavContentComponentProps) {
  const entries = navItems.withComponent(item => (
    <SidebarItem icon={() => item.icon} to={item.href} text={item.title} />
  ));
  // Taken before the rest, otherwise it would be listed twice.
  const settings = entries.take('page:user-settings');
  // The plugin's own entry restores the previous title of the browser tab up to
  // 100 ms late.
  const notifications = entries.take('page:notifications');
  const palette = usePalette();

  return (
    <Sidebar>
      <Logo />
      <SidebarDivider />
      {palette && (
        <SidebarItem
          icon={() => <RiSearchLine size={24} />}
          text="Find"
          onClick={palette.open}
          aria-keyshortcuts={palette.shortcut}
        />
      )}
      <SidebarGroup label="Menu" icon={<RiMenuLine size={24} />}>
        <SidebarScrollWrapper>
          {entries.rest({ sortBy: 'title' })}
        </SidebarScrollWrapper>
      </SidebarGroup>
      <SidebarSpace />
      <SidebarDivider />
      {notifications && (
        <SidebarGroup
          label="Notifications"
          icon={<RiNotification3Line size={24} />}
          to="/notifications"
        >
          {notifications}
        </SidebarGroup>
      )}
      <SidebarGroup
        label="Settings"
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

/** Replaces the app's default navigation with the portal's own. */
export const navigationModule = createFrontendModule({
  pluginId: 'app',
  extensions: [NavContentBlueprint.make({ params: { component: Navigation } })],
});
