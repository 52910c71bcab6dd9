import { expect, type Locator, type Page } from '@playwright/test';
import type { Portal } from '../Portal';
import type { Caller } from '../test';

/**
 * A page in one of its states. `make screenshots` takes pictures of every scene,
 * and `accessibility.test.ts` checks every scene with axe, in light and dark and
 * on wide and narrow screens. The state must survive a change of the window's
 * width. Scenes with the same ticket share a browser, each in its own tab.
 */
export interface Scene {
  /** In kebab case, as in `person-private`: the name of its pictures. */
  readonly name: string;
  /** User of the page. */
  readonly caller: Caller;
  /**
   * Brings a blank page into the state.
   *
   * @returns the element that appears last, which is visible.
   */
  readonly open: (options: {
    readonly page: Page;
    readonly portal: Portal;
  }) => Promise<Locator>;
}

/** Serves a history, because that of the portal under test is empty. */
export async function serveHistory(page: Page, entry: string): Promise<void> {
  const change = {
    username: 'alice',
    groupname: 'packager',
    modifier: null,
    time: '2026-05-06T07:08:09.000Z',
  };
  const changes = [
    { ...change, kind: 'user_unlocked' },
    { ...change, kind: 'user_locked' },
    { ...change, kind: 'member_removed', groupname: 'contributors' },
    { ...change, kind: 'member_added', modifier: 'dave' },
  ].filter(({ kind }) => entry.startsWith('users/') || !/^user/.test(kind));
  await page.route(`**/v1/${entry}/history/**`, route =>
    route.fulfill({
      json: { result: changes, page: 1, page_size: 24, total_results: 4 },
    }),
  );
}

/** Themes and screen sizes in which pages are tested. */
export const appearances = [
  { name: 'light-wide', colorScheme: 'light', width: 1440, height: 900 },
  { name: 'dark-wide', colorScheme: 'dark', width: 1440, height: 900 },
  { name: 'light-narrow', colorScheme: 'light', width: 360, height: 740 },
  { name: 'dark-narrow', colorScheme: 'dark', width: 360, height: 740 },
] as const;

/** The same themes on a very wide screen, for pictures. */
export const widestAppearances = [
  { name: 'light-widest', colorScheme: 'light', width: 2560, height: 1300 },
  { name: 'dark-widest', colorScheme: 'dark', width: 2560, height: 1300 },
] as const;

/** Theme and screen size, in CSS pixels. */
export type Appearance =
  | (typeof appearances)[number]
  | (typeof widestAppearances)[number];

/** A scene in a tab. */
interface OpenScene {
  readonly page: Page;
  /** The element that appears last. */
  readonly shown: Locator;
}

/** Opens a scene in an appearance, and waits until the page does not change. */
export async function openScene(options: {
  readonly scene: Scene;
  readonly appearance: Appearance;
  readonly portal: Portal;
  readonly openTabAs: (caller: Caller) => Promise<Page>;
}): Promise<OpenScene> {
  const { scene, appearance, portal, openTabAs } = options;
  const { width, height, colorScheme } = appearance;
  const page = await openTabAs(scene.caller);
  await page.setViewportSize({ width, height });
  // Without animations, pictures and measured colors are final.
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
      new Promise(done =>
        requestAnimationFrame(() => requestAnimationFrame(done)),
      ),
  );
  await expect(shown).toBeVisible();
}
