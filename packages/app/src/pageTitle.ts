import { configApiRef, useApi } from '@backstage/frontend-plugin-api';
import type {
  NavContentComponentProps,
  NavContentNavItem,
} from '@backstage/plugin-app-react';
import { useEffect } from 'react';
import { useLocation } from 'react-router-dom';

/**
 * Sets the document title to the title of the current navigation entry. Pages
 * with their own title replace it.
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

/** Sets the document title. `undefined` leaves it unchanged. */
export function usePageTitle(title: string | undefined) {
  const app = useApi(configApiRef).getString('app.title');
  useEffect(() => {
    if (title) {
      document.title = `${title} · ${app}`;
    }
  }, [app, title]);
}
