import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { appearances, type Appearance } from './appearances';
import { openScene, resizeScene } from './openScene';
import { scenes } from './scenes';
import { expect, test } from './test';

/** The rules whose result depends on colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Returns the violations that axe finds on a page; in the dark, of colors. */
async function findViolations(page: Page, colorScheme: 'light' | 'dark') {
  // The portal has no frames of other origins, so that axe can examine all of it
  // in the page itself, in half the time. Rules that pass are not reported.
  const axe = new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] });
  if (colorScheme === 'dark') {
    axe.withRules(COLOR_RULES);
  }
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({ id, target, failureSummary })),
  );
}

/** Returns the pixels by which a page is wider than its window. */
async function overflowOf(page: Page) {
  return await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth,
  );
}

/** Expects a page without violations, with one h1 and nothing cut off. */
async function examine(page: Page, { colorScheme }: Appearance) {
  expect(await findViolations(page, colorScheme)).toEqual([]);
  const headings = page.getByRole('heading', { level: 1 });
  await expect(headings).toHaveCount(1);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
}

// The scenes leave nothing behind, so that two workers can share them.
test.describe.configure({ mode: 'parallel' });

for (const scene of scenes) {
  test(`${scene.name}: axe finds nothing, nothing is cut off`, async ({
    portal,
    openTab,
  }) => {
    for (const theme of ['light', 'dark']) {
      const [first, ...others] = appearances.filter(
        ({ colorScheme }) => colorScheme === theme,
      );
      const opened = await test.step(first.name, async () => {
        const result = await openScene({
          scene,
          appearance: first,
          portal,
          openTab,
        });
        await examine(result.page, first);
        return result;
      });
      for (const appearance of others) {
        await test.step(appearance.name, async () => {
          await resizeScene(opened, appearance);
          await examine(opened.page, appearance);
        });
      }
    }
  });
}
