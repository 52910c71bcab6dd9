import {
  coreApis,
  useApi,
  useAppLocation,
} from '@backstage/frontend-plugin-api';
import type {
  NavContentComponentProps,
  NavContentNavItem,
} from '@backstage/plugin-app-react';
import { useEffect } from 'react';

/** Whether a path is that of a navigation entry, or below it; case is ignored. */
export function isCurrent(pathname: string, href: string): boolean {
  return `${pathname}/`.toLowerCase().startsWith(`${href}/`.toLowerCase());
}

/**
 * Sets the document title to the title of the current navigation entry. Pages
 * with their own title replace it.
 */
export function useNavigationTitle(
  navItems: NavContentComponentProps['navItems'],
  titleOf: (item: NavContentNavItem) => string,
) {
  const { pathname } = useAppLocation();
  const entry = navItems
    .clone()
    .rest()
    .find(({ href }) => isCurrent(pathname, href));
  usePageTitle(entry && titleOf(entry));
}

/** Sets the document title. `undefined` leaves it unchanged. */
export function usePageTitle(title: string | undefined) {
  const app = useApi(coreApis.config).getString('app.title');
  useEffect(() => {
    if (title) {
      document.title = `${title} · ${app}`;
    }
  }, [app, title]);
}
