import { expect, type Locator, type Page } from '@playwright/test';
import type { Appearance } from './appearances';
import type { Portal } from './Portal';
import type { Scene } from './scenes';
import type { Visitor } from './Visitor';

/** A scene in a tab. */
export interface OpenScene {
  readonly page: Page;
  /** The element that appears last. */
  readonly shown: Locator;
}

/** Opens a scene in an appearance, and waits until the page does not change. */
export async function openScene(options: {
  readonly scene: Scene;
  readonly appearance: Appearance;
  readonly portal: Portal;
  readonly openTab: (visitor: Visitor) => Promise<Page>;
}): Promise<OpenScene> {
  const { scene, appearance, portal, openTab } = options;
  const { width, height, colorScheme } = appearance;
  const page = await openTab(scene.visitor);
  await page.setViewportSize({ width, height });
  // Nothing moves, so that no picture and no measured color is half way.
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  const shown = await scene.open({ page, portal });
  await page.evaluate(() => document.fonts.ready);
  return { page, shown };
}

/**
 * Changes the size of an open scene's window. The theme stays: to change it
 * mounts the app again, which loses the state of the scene.
 */
export async function resizeScene(
  { page, shown }: OpenScene,
  { width, height }: Appearance,
): Promise<void> {
  await page.setViewportSize({ width, height });
  // Components follow the size in the next frame.
  await page.evaluate(
    () =>
      new Promise(resolve =>
        requestAnimationFrame(() => requestAnimationFrame(resolve)),
      ),
  );
  await expect(shown).toBeVisible();
}
