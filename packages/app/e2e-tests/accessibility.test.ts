import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { scenes } from './scenes';
import { appearances, openScene, resizeScene } from './scenes/Scene';
import { expect, test } from './test';

/** `make trials` tests all appearances. */
const tested = process.env.ALL_APPEARANCES
  ? appearances
  : appearances.filter(({ name }) =>
      ['light-wide', 'dark-narrow'].includes(name),
    );

/** Returns the axe violations of a page. */
async function axeViolations(page: Page) {
  // The portal has no cross-origin frames, so axe can run inside the page,
  // which halves the time. Passed rules are not reported.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .analyze();
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
async function checkPage(page: Page) {
  // Waits until a page that is loading its data is shown.
  const headings = page.getByRole('heading', { level: 1 });
  await expect(headings).toHaveCount(1);
  expect(await axeViolations(page)).toEqual([]);
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
      const [first, ...others] = tested.filter(
        ({ colorScheme }) => colorScheme === theme,
      );
      const opened = await test.step(first.name, async () => {
        const result = await openScene({
          scene,
          appearance: first,
          portal,
          openTabAs,
        });
        await checkPage(result.page);
        return result;
      });
      for (const appearance of others) {
        await test.step(appearance.name, async () => {
          await resizeScene(opened, appearance);
          await checkPage(opened.page);
        });
      }
    }
  });
}
