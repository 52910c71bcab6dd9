import { expect, type Page } from '@playwright/test';
import { alice, type Caller } from '../test';
import { type Scene, serveHistory } from './Scene';

/** The person page of a user. */
function person(options: {
  readonly name: string;
  readonly path: string;
  readonly caller?: Caller;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, path, caller = alice, shows } = options;
  return {
    name: `person-${name}`,
    caller,
    isInUrl: true,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/people/${path}`);
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

const groups = (page: Page) => page.getByRole('link', { name: 'contributors' });

/** The person page in all states. */
export const personScenes: readonly Scene[] = [
  person({ name: 'own', path: 'alice', shows: groups }),
  person({
    name: 'other',
    path: 'dave',
    shows: page => page.getByText('Inherited'),
  }),
  person({
    name: 'keys',
    path: 'alice?tab=keys',
    shows: page => page.getByText(/^SHA256:/),
  }),
  person({
    name: 'certificates',
    path: 'dave?tab=certificates',
    shows: page => page.getByText('External'),
  }),
  person({
    name: 'agreements',
    path: 'alice?tab=agreements',
    shows: page => page.getByText('FPCA'),
  }),
  person({
    name: 'private',
    path: 'bob',
    shows: page => page.getByText('This profile is private'),
  }),
  person({
    name: 'private-own',
    path: 'bob',
    caller: { ticket: 'bob' },
    shows: page => page.getByText('Your profile'),
  }),
  person({
    name: 'locked',
    path: 'carol',
    shows: page => page.getByText('Locked', { exact: true }),
  }),
  person({
    name: 'strange-name',
    path: 'special',
    shows: groups,
  }),
  {
    name: 'person-malicious-name',
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await page.route('**/v1/users/dave/', async route => {
        const response = await route.fetch();
        const { result } = await response.json();
        const malicious = {
          ...result,
          human_name:
            'Dave \u202erotartsinimdA\u202c \u05d3\u05d5\u05d3 (admin\u200b)',
          pronouns: ['he/him\u2067'],
          websites: ['https://portal.example.test@evil.test/\u202e'],
        };
        await route.fulfill({ response, json: { result: malicious } });
      });
      await page.goto(`${portal.url}/directory/people/dave`);
      await expect(page.getByText('U+202E').first()).toBeVisible();
      const shown = page.getByText('Inherited').first();
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  {
    name: 'person-history',
    caller: alice,
    isInUrl: true,
    async open({ page, portal }) {
      await serveHistory(page, 'users/alice');
      await page.goto(`${portal.url}/directory/people/alice?tab=history`);
      const shown = page.getByText('Renamed from alicia');
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  person({
    name: 'not-found',
    path: 'nobody-here',
    shows: page => page.getByRole('link', { name: 'Search for nobody-here' }),
  }),
  {
    name: 'person-why',
    caller: alice,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/people/dave`);
      await page
        .getByRole('button', { name: /^Show why Dave/ })
        .first()
        .click();
      const shown = page.getByRole('dialog');
      await expect(shown).toBeVisible();
      return shown;
    },
  },
];
