import { configApiRef, useApi } from '@backstage/frontend-plugin-api';
import type {
  NavContentComponentProps,
  NavContentNavItem,
} from '@backstage/plugin-app-react';
import { useEffect } from 'react';
import { useLocation } from 'react-router-dom';

/**
 * Sets the title of the browser tab to that of the navigation entry of the page.
 * Pages with a title of their own replace it.
 */
export function useNavigationTitle(
  navItems: NavContentComponentProps['navItems'],
  titleOf: (item: NavContentNavItem) => string,
) {
  const { pathname } = useLocation();
  const entry = navItems
    .clone()
    .rest()
    .find(({ href }) => pathname === href || pathname.startsWith(`${href}/`));
  usePageTitle(entry && titleOf(entry));
}

/** Sets the title of the browser tab; `undefined` leaves it as it is. */
export function usePageTitle(title: string | undefined) {
  const app = useApi(configApiRef).getString('app.title');
  useEffect(() => {
    if (title) {
      document.title = `${title} · ${app}`;
    }
  }, [app, title]);
}
