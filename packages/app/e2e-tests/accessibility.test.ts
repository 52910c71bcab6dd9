import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { appearances } from './appearances';
import { openScene } from './openScene';
import { scenes } from './scenes';
import { expect, test } from './test';

/** What axe says against a page, in the words that help to mend it. */
async function complaintsAbout(page: Page) {
  // The portal has no frames of foreign origin: everything is judged in the page
  // itself, in half the time. What passes is not asked for.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({ id, target, failureSummary })),
  );
}

/** By how many pixels a page is wider than its window. */
async function overflowOf(page: Page) {
  return await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth,
  );
}

for (const scene of scenes) {
  test(`${scene.name}: axe finds nothing, nothing is cut off`, async ({
    portal,
    openTab,
  }) => {
    for (const appearance of appearances) {
      await test.step(appearance.name, async () => {
        const page = await openScene({ scene, appearance, portal, openTab });

        expect(await complaintsAbout(page)).toEqual([]);
        const headings = page.getByRole('heading', { level: 1 });
        await expect(headings).toHaveCount(1);
        expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      });
    }
  });
}
