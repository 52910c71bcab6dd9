import { expect, type Page } from '@playwright/test';
import { alice, type Visitor } from '../Visitor';
import type { Scene } from './Scene';

/** Somebody's page, once something has appeared. */
function person(options: {
  readonly name: string;
  readonly path: string;
  readonly visitor?: Visitor;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, path, visitor = alice, shows } = options;
  return {
    name: `person-${name}`,
    visitor,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/people/${path}`);
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

const groups = (page: Page) => page.getByRole('link', { name: 'contributors' });

/** A person, in all states. */
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
    shows: page => page.getByText('Not issued here'),
  }),
  person({
    name: 'agreements',
    path: 'alice?tab=agreements',
    shows: page => page.getByText('FPCA'),
  }),
  person({
    name: 'private',
    path: 'bob',
    shows: page => page.getByText('keeps this profile private'),
  }),
  person({
    name: 'private-own',
    path: 'bob',
    visitor: { ticket: 'bob' },
    shows: page => page.getByText('This is you'),
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
    name: 'person-hostile-name',
    visitor: alice,
    async open({ page, portal }) {
      await page.route('**/v1/users/dave/', async route => {
        const response = await route.fetch();
        const { result } = await response.json();
        const hostile = {
          ...result,
          human_name:
            'Dave \u202erotartsinimdA\u202c \u05d3\u05d5\u05d3 (admin\u200b)',
          pronouns: ['he/him\u2067'],
          websites: ['https://portal.example.test@evil.test/\u202e'],
        };
        await route.fulfill({ response, json: { result: hostile } });
      });
      await page.goto(`${portal.url}/directory/people/dave`);
      await expect(page.getByText('U+202E').first()).toBeVisible();
      const shown = page.getByText('Inherited').first();
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  person({
    name: 'gone',
    path: 'nobody-here',
    shows: page => page.getByRole('link', { name: 'Look for nobody-here' }),
  }),
  {
    name: 'person-why',
    visitor: alice,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/people/dave`);
      await page
        .getByRole('button', { name: /^Why is Dave/ })
        .first()
        .click();
      const shown = page.getByRole('dialog');
      await expect(shown).toBeVisible();
      return shown;
    },
  },
];
