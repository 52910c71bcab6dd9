import type { Page } from '@playwright/test';
import { source, type default as Axe } from 'axe-core';
import { scenes } from './scenes';
import {
  appearances,
  changeAppearance,
  openScene,
  type Appearance,
  type OpenScene,
  type Scene,
} from './scenes/Scene';
import { expect, test } from './test';

/** Scenes that a change of the theme does not keep. */
const reopened = scenes.filter(({ isInUrl }) => !isInUrl);

/**
 * Appearances in which a scene is tested: light and wide, and dark and narrow.
 * A scene that has to be opened again for another theme is tested in one of
 * them, in turn. `make trials` tests all appearances.
 */
function appearancesOf(scene: Scene): readonly Appearance[] {
  if (process.env.ALL_APPEARANCES) {
    return appearances;
  }
  const tested = appearances.filter(({ name }) =>
    ['light-wide', 'dark-narrow'].includes(name),
  );
  const index = reopened.indexOf(scene);
  return index < 0 ? tested : [tested[index % tested.length]];
}

/** Returns the axe violations of a page. */
async function axeViolations(page: Page) {
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(source);
  }
  return await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof Axe };
    // Passed rules are not reported.
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => ({
        id,
        target,
        failureSummary,
      })),
    );
  });
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
    reuseTabOf,
  }) => {
    const open = (appearance: Appearance) =>
      openScene({
        scene,
        appearance,
        portal,
        openTabAs: scene.ownTab ? openTabAs : reuseTabOf,
      });
    let opened: OpenScene | undefined;
    for (const appearance of appearancesOf(scene)) {
      const before = opened;
      opened = await test.step(appearance.name, async () => {
        const changed = before && (await changeAppearance(before, appearance));
        const shown = changed ?? (await open(appearance));
        await checkPage(shown.page);
        return shown;
      });
    }
  });
}
