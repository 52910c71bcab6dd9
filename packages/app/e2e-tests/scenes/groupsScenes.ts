import { expect, type Page } from '@playwright/test';
import { alice, officer } from '../test';
import { type Scene, serveHistory } from './Scene';

/** The page of all groups or of one group. */
function groups(options: {
  readonly name: string;
  readonly path: string;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, path, shows } = options;
  return {
    name,
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/groups${path}`);
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

const heading = (name: string) => (page: Page) =>
  page.getByRole('heading', { name, exact: true });

const member = (page: Page) =>
  page.getByRole('region', { name: 'Members' }).getByRole('rowheader');

/** The groups page and the group page in all states. */
export const groupsScenes: readonly Scene[] = [
  {
    name: 'group-history',
    caller: officer,
    isInUrl: true,
    async open({ page, portal }) {
      await serveHistory(page, 'groups/packager');
      await page.goto(`${portal.url}/directory/groups/packager`);
      const shown = page.getByRole('region', { name: 'History' });
      await expect(shown.getByText('alice').first()).toBeVisible();
      return shown;
    },
  },
  groups({
    name: 'groups',
    path: '',
    shows: page => page.getByText('contributors').first(),
  }),
  groups({
    name: 'groups-found',
    path: '?q=pack',
    shows: page => page.locator('mark'),
  }),
  {
    name: 'group',
    caller: alice,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/groups/packager`);
      await page
        .getByRole('button', { name: 'Show the groups in provenpackager' })
        .click();
      await expect(page.getByRole('link', { name: 'rel-eng' })).toBeVisible();
      const shown = page.getByRole('columnheader', { name: 'Membership' });
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  groups({
    name: 'group-locked',
    path: '/packager?membership=locked',
    shows: page => page.getByRole('row', { name: /carol/ }),
  }),
  groups({ name: 'group-large', path: '/contributors', shows: member }),
  groups({
    name: 'group-no-member-found',
    path: '/contributors?q=nobodyatall',
    shows: heading('No members found'),
  }),
  groups({
    name: 'group-empty',
    path: '/unsung',
    shows: heading('This group has no members'),
  }),
  groups({
    name: 'group-not-found',
    path: '/no-such-group',
    shows: page => page.getByRole('link', { name: 'Search for no-such-group' }),
  }),
  {
    name: 'group-is-member',
    caller: alice,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/groups/packager`);
      await page.getByRole('combobox', { name: 'Person' }).fill('dave');
      await page.getByRole('option', { name: /dave/i }).first().click();
      const shown = page.getByText('dave is a member.');
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  {
    name: 'group-loading',
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await page.route('**/v1/groups/packager/', () => undefined);
      await page.goto(`${portal.url}/directory/groups/packager`);
      const shown = page.getByRole('status', { name: 'Loading' }).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  },
];
