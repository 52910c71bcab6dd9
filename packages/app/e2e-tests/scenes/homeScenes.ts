import { expect, type Page } from '@playwright/test';
import { alice } from '../test';
import { type Scene, serveHistory } from './Scene';

/** The home page of alice, with the responses that `prepare` sets. */
function home(options: {
  readonly name: string;
  readonly prepare: (page: Page) => Promise<void>;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, prepare, shows } = options;
  return {
    name,
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await prepare(page);
      await page.goto(portal.url);
      // In most cases, this section is loaded last.
      await expect(
        page.getByRole('region', { name: 'My certificates' }).getByText(/\./),
      ).toBeVisible();
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

/** The home page with and without data. */
export const homeScenes: readonly Scene[] = [
  home({
    name: 'home',
    prepare: page => serveHistory(page, 'users/alice'),
    shows: page =>
      page.getByRole('heading', { name: 'Recent changes', exact: true }),
  }),
  home({
    name: 'home-not-mapped',
    async prepare(page) {
      for (const path of ['me', 'me/colleagues']) {
        await page.route(new RegExp(`/v1/${path}/(\\?|$)`), route =>
          route.fulfill({
            status: 403,
            json: { message: 'You have no identity in the directory' },
          }),
        );
      }
    },
    shows: page => page.getByText(/^People who share a group/),
  }),
  home({
    name: 'home-directory-away',
    async prepare(page) {
      await page.route(/\/v1\/(me\/colleagues|users)\//, route =>
        route.fulfill({
          status: 503,
          headers: { 'Retry-After': '30' },
          json: { message: 'The directory is unavailable' },
        }),
      );
    },
    shows: page =>
      page
        .getByRole('region', { name: 'People in your groups' })
        .getByRole('button', { name: 'Try again' }),
  }),
];
