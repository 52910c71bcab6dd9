import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { scenes } from './scenes';
import {
  type Appearance,
  appearances,
  openScene,
  resizeScene,
} from './scenes/Scene';
import { expect, test } from './test';

/** axe rules for colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the axe violations of a page; in the dark theme, only those of color
 * rules.
 */
async function axeViolations(page: Page, colorScheme: 'light' | 'dark') {
  // The portal has no cross-origin frames, so axe can run inside the page,
  // which halves the time. Passed rules are not reported.
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

/** Returns how much wider a page is than its window, in pixels. */
async function overflowOf(page: Page) {
  return await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth,
  );
}

/** Expects no violations, one h1 and no horizontal overflow. */
async function checkPage(page: Page, { colorScheme }: Appearance) {
  expect(await axeViolations(page, colorScheme)).toEqual([]);
  const headings = page.getByRole('heading', { level: 1 });
  await expect(headings).toHaveCount(1);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
}

// Scenes do not change state, so two workers can share them.
test.describe.configure({ mode: 'parallel' });

for (const scene of scenes) {
  test(`${scene.name}: no axe violations, no horizontal overflow`, async ({
    portal,
    openTabAs,
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
          openTabAs,
        });
        await checkPage(result.page, first);
        return result;
      });
      for (const appearance of others) {
        await test.step(appearance.name, async () => {
          await resizeScene(opened, appearance);
          await checkPage(opened.page, appearance);
        });
      }
    }
  });
}
