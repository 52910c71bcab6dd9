import type { Page } from '@playwright/test';
import type { Appearance } from './appearances';
import type { Portal } from './Portal';
import type { Scene } from './scenes';
import type { Visitor } from './Visitor';

/** Opens a scene in an appearance; the page is then at rest. */
export async function openScene(options: {
  readonly scene: Scene;
  readonly appearance: Appearance;
  readonly portal: Portal;
  readonly openTab: (visitor: Visitor) => Promise<Page>;
}): Promise<Page> {
  const { scene, appearance, portal, openTab } = options;
  const { width, height, colorScheme } = appearance;
  const page = await openTab(scene.visitor);
  await page.setViewportSize({ width, height });
  // Nothing moves, so that no picture and no measured color is half way.
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await scene.open({ page, portal });
  await page.evaluate(() => document.fonts.ready);
  return page;
}
