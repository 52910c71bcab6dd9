import {
  Sidebar,
  SidebarDivider,
  SidebarGroup,
  SidebarItem,
  SidebarScrollWrapper,
  SidebarSpace,
} from '@backstage/core-components';
import type { NavContentComponentProps } from '@backstage/plugin-app-react';
import {
  RiMenuLine,
  RiNotification3Line,
  RiSettings3Line,
} from '@remixicon/react';
import { Logo } from './navigation/Logo';

/**
 * The side bar: every plugin's pages by title, the reader's own settings last.
 * On a phone, a bar at the bottom with groups: the pages in a menu, the
 * notifications, and the settings.
 */
export function Navigation({ navItems }: NavContentComponentProps) {
  const entries = navItems.withComponent(item => (
    <SidebarItem icon={() => item.icon} to={item.href} text={item.title} />
  ));
  // Taken before the rest is asked for, or it would be listed twice.
  const settings = entries.take('page:user-settings');
  // The plugin's own entry would write old titles into the browser's tab: it
  // puts back, up to 100 ms late, what stood there before.
  const notifications = entries.take('page:notifications');

  return (
    <Sidebar>
      <Logo />
      <SidebarDivider />
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
