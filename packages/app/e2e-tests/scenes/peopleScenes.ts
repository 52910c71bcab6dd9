import { expect, type Page } from '@playwright/test';
import { alice } from '../test';
import type { Scene } from './Scene';

/** The people page with a query. */
function people(options: {
  readonly name: string;
  readonly query?: string;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, query = '', shows } = options;
  return {
    name: `people-${name}`,
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/people${query}`);
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

const heading = (name: string) => (page: Page) =>
  page.getByRole('heading', { name, exact: true });

/** The people page in all states. */
export const peopleScenes: readonly Scene[] = [
  people({ name: 'before-typing', shows: heading('People in your groups') }),
  people({
    name: 'found-many',
    query: '?q=mar',
    shows: page => page.locator('mark'),
  }),
  people({
    name: 'filtered',
    query: '?group=contributors&before=2020-01-01&has=github_username',
    shows: heading('People matching the filters'),
  }),
  people({
    name: 'all',
    query: '?all',
    shows: heading('All people'),
  }),
  people({
    name: 'too-short',
    query: '?q=zz',
    shows: page => page.getByText(/Type at least three characters/),
  }),
  people({
    name: 'similar',
    query: '?q=alcie',
    shows: heading('Did you mean…?'),
  }),
  people({
    name: 'nothing-found',
    query: '?q=nobodyatall&group=packager',
    shows: heading('No people found'),
  }),
  {
    name: 'people-filters-open',
    caller: alice,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/people`);
      await page.getByRole('button', { name: 'Filters' }).click();
      const shown = page.getByText('Joined before');
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  {
    name: 'people-loading',
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await page.route('**/v1/me/colleagues/**', () => undefined);
      await page.goto(`${portal.url}/directory/people`);
      const shown = page.getByRole('status', { name: 'Loading' }).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  {
    name: 'people-directory-away',
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await page.route('**/v1/me/colleagues/**', route =>
        route.fulfill({
          status: 503,
          headers: { 'Retry-After': '30' },
          json: {
            message: 'The directory is unavailable',
            request_id: '0b5cbe7e-4d1f-4d4e-a0a4-8bb7b4e5a3de',
          },
        }),
      );
      await page.goto(`${portal.url}/directory/people`);
      const shown = page.getByRole('button', { name: 'Try again' });
      await expect(shown).toBeVisible();
      return shown;
    },
  },
];
