import type { Page } from '@playwright/test';
import { alice, expect, test } from './test';

test('a user chooses German in the settings', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.goto(`${portal.url}/settings`);
  await page.getByText('English', { exact: true }).click();
  await page.getByRole('option', { name: 'Deutsch' }).click();
  await page.getByRole('link', { name: 'Personen' }).click();

  await expect(
    page.getByRole('heading', { level: 1, name: 'Personen' }),
  ).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
});

const accents: Partial<Record<string, string>> = {
  a: 'á',
  e: 'é',
  i: 'î',
  o: 'ö',
  u: 'ü',
};

/**
 * Returns a text that is at least 40 % longer, such as `[!! Pérsönén ··· !!]`.
 */
function lengthen(text: string): string {
  const accented = text.replace(
    /\{\{.*?\}\}|\\x..|\\u....|[aeiou]/g,
    part => accents[part] ?? part,
  );
  return `[!! ${accented}${' ···'.repeat(text.length / 10 + 1)} !!]`;
}

/** Lengthens the messages of the directory pages and the navigation. */
async function lengthenMessages(page: Page): Promise<void> {
  await page.addInitScript(() => localStorage.setItem('language', 'de'));
  await page.route('**/static/*.js', async route => {
    const response = await route.fetch();
    const code = await response.text();
    // German messages have quoted keys: {"page.people":"Personen"}.
    const body = code.includes('"page.people":')
      ? code.replace(
          /("[\w.]+":)"((?:[^"\\]|\\.)*)"/g,
          (_, key, text) => `${key}"${lengthen(text)}"`,
        )
      : code;
    await route.fulfill({ response, body });
  });
}

test('pages with long texts do not overflow on a phone', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.setViewportSize({ width: 360, height: 740 });
  await lengthenMessages(page);

  for (const path of [
    'people',
    'people?q=mar',
    'people/alice',
    'groups',
    'groups/packager',
    'certificates',
    'certificates/request',
  ]) {
    await test.step(path, async () => {
      await page.goto(`${portal.url}/directory/${path}`);
      await expect(page.getByRole('heading', { level: 1 })).toContainText(
        path.includes('/') ? /./ : '[!!',
      );
      await page.waitForLoadState('networkidle');
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      expect(overflow).toBeLessThanOrEqual(0);
    });
  }
});
