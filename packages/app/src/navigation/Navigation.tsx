import {
  Sidebar,
  SidebarDivider,
  SidebarItem,
  SidebarScrollWrapper,
  SidebarSpace,
} from '@backstage/core-components';
import type { NavContentComponentProps } from '@backstage/plugin-app-react';
import { Logo } from './Logo';

/**
 * The side bar: every plugin's pages by title, the reader's own settings last.
 */
export function Navigation({ navItems }: NavContentComponentProps) {
  const entries = navItems.withComponent(item => (
    <SidebarItem icon={() => item.icon} to={item.href} text={item.title} />
  ));
  // Taken before the rest is asked for, or it would be listed twice.
  const settings = entries.take('page:user-settings');

  return (
    <Sidebar>
      <Logo />
      <SidebarDivider />
      <SidebarScrollWrapper>
        {entries.rest({ sortBy: 'title' })}
      </SidebarScrollWrapper>
      <SidebarSpace />
      <SidebarDivider />
      {settings}
    </Sidebar>
  );
}
