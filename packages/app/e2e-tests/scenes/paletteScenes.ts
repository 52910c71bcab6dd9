import { expect, type Page } from '@playwright/test';
import { alice } from '../test';
import type { Scene } from './Scene';

/** Returns the field of the command palette. */
export function paletteField(page: Page) {
  return page.getByRole('combobox', { name: /^Search people/ });
}

/** Opens the command palette and returns its field. */
export async function openPalette(page: Page) {
  const field = paletteField(page);
  // The shortcut works shortly after the page has appeared.
  await expect(async () => {
    await page.keyboard.press('Control+k');
    await expect(field).toBeFocused({ timeout: 500 });
  }).toPass();
  return field;
}

/** The command palette with a search text. */
function palette(options: {
  readonly name: string;
  readonly text: string;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, text, shows } = options;
  return {
    name,
    caller: alice,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/groups`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await (await openPalette(page)).fill(text);
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

/** The command palette in all states. */
export const paletteScenes: readonly Scene[] = [
  palette({
    name: 'palette-found',
    text: 'pack',
    shows: page => page.getByRole('option', { name: /packager/ }),
  }),
  palette({
    name: 'palette-nothing-found',
    text: 'nothing-like-it',
    shows: page => page.getByText(/^No results/),
  }),
];
