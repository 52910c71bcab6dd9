import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { appearances } from './appearances';
import { openScene } from './openScene';
import { scenes } from './scenes';
import { expect, test } from './test';

/** Returns the violations that axe finds on a page. */
async function complaintsAbout(page: Page) {
  // The portal has no frames of other origins, so that axe can examine all of it
  // in the page itself, in half the time. Rules that pass are not reported.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .analyze();
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

// The scenes leave nothing behind, so that two workers can share them.
test.describe.configure({ mode: 'parallel' });

for (const scene of scenes) {
  test(`${scene.name}: axe finds nothing, nothing is cut off`, async ({
    portal,
    openTab,
  }) => {
    for (const appearance of appearances) {
      await test.step(appearance.name, async () => {
        // Each theme in a page of its own: to change the theme of an open page
        // mounts the app again, which loses the state of the scene.
        const page = await openScene({ scene, appearance, portal, openTab });

        expect(await complaintsAbout(page)).toEqual([]);
        const headings = page.getByRole('heading', { level: 1 });
        await expect(headings).toHaveCount(1);
        expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      });
    }
  });
}
