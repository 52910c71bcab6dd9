import { expect, type Locator, type Page } from '@playwright/test';
import type { Portal } from '../Portal';
import type { Caller } from '../test';

/**
 * A page in one of its states. `make screenshots` captures every scene, and
 * `accessibility.test.ts` checks it with axe, in several appearances. A scene
 * must keep its state when the width of the window changes. Scenes with the same
 * ticket share a browser.
 */
export interface Scene {
  /** Name of the screenshots, in kebab case, such as `person-private`. */
  readonly name: string;
  /** User who opens the page. */
  readonly caller: Caller;
  /**
   * Whether a change of theme keeps the scene, although it remounts the app:
   * its state is in the URL and in the responses. Default: false.
   */
  readonly isInUrl?: boolean;
  /**
   * Whether it changes its tab permanently, such as the user agent. Default:
   * false.
   */
  readonly ownTab?: boolean;
  /**
   * Opens the scene on a blank page or that of another scene.
   *
   * @returns the element that appears last; it must be visible.
   */
  readonly open: (options: {
    readonly page: Page;
    readonly portal: Portal;
  }) => Promise<Locator>;
}

/** Serves a history, because the portal under test has none. */
export async function serveHistory(page: Page, entry: string): Promise<void> {
  const change = {
    username: 'alice',
    groupname: 'packager',
    time: '2026-05-06T07:08:09.000Z',
  };
  const changes = [
    { ...change, kind: 'user_renamed', old_username: 'alicia' },
    { ...change, kind: 'members_changed' },
    { ...change, kind: 'member_removed', groupname: 'contributors' },
    { ...change, kind: 'member_added' },
  ].filter(({ kind }) =>
    entry.startsWith('users/')
      ? kind !== 'members_changed'
      : !/^user/.test(kind),
  );
  await page.route(`**/v1/${entry}/history/**`, route =>
    route.fulfill({
      json: { result: changes, page: 1, page_size: 24, total_results: 3 },
    }),
  );
}

/** Themes and screen sizes in which pages are tested. */
export const appearances = [
  { name: 'light-wide', colorScheme: 'light', width: 1440, height: 900 },
  { name: 'light-narrow', colorScheme: 'light', width: 360, height: 740 },
  { name: 'dark-wide', colorScheme: 'dark', width: 1440, height: 900 },
  { name: 'dark-narrow', colorScheme: 'dark', width: 360, height: 740 },
] as const;

/** The same themes on a very wide screen, for screenshots. */
export const widestAppearances = [
  { name: 'light-widest', colorScheme: 'light', width: 2560, height: 1300 },
  { name: 'dark-widest', colorScheme: 'dark', width: 2560, height: 1300 },
] as const;

/** Theme and screen size, in CSS pixels. */
export type Appearance =
  (typeof appearances)[number] | (typeof widestAppearances)[number];

/** A scene in a tab. */
export interface OpenScene {
  readonly scene: Scene;
  readonly page: Page;
  readonly colorScheme: Appearance['colorScheme'];
  /** The element that appears last. */
  readonly shown: Locator;
}

/** Opens a scene in an appearance and waits until the page is complete. */
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
  // Without animations, screenshots and measured colors are final.
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  const shown = await scene.open({ page, portal });
  await page.evaluate(() => document.fonts.ready);
  return { scene, page, colorScheme, shown };
}

/**
 * Changes the appearance of an open scene, which takes a quarter of the time of
 * opening it again.
 *
 * @returns undefined if the scene does not keep its state
 */
export async function changeAppearance(
  opened: OpenScene,
  { width, height, colorScheme }: Appearance,
): Promise<OpenScene | undefined> {
  const { scene, page, shown } = opened;
  if (colorScheme !== opened.colorScheme) {
    if (!scene.isInUrl) {
      return undefined;
    }
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('body')).toHaveAttribute(
      'data-theme-mode',
      colorScheme,
    );
  }
  await page.setViewportSize({ width, height });
  // Components adapt to the size in the next frame, and colors fade.
  await page.evaluate(async () => {
    await new Promise(done =>
      requestAnimationFrame(() => requestAnimationFrame(done)),
    );
    const transitions = document
      .getAnimations()
      .filter(animation => animation instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  });
  await expect(shown).toBeVisible();
  return { ...opened, colorScheme };
}
