import type { Locator, Page } from '@playwright/test';
import type { Portal } from '../Portal';
import type { Visitor } from '../Visitor';

/**
 * A page in one of its states. `make screenshots` takes pictures of every
 * scene, and `accessibility.test.ts` examines every one with axe, in light and
 * dark and on wide and narrow screens. The state outlasts a change of the
 * window's width. Scenes with the same ticket share a browser, each in a tab of
 * its own.
 */
export interface Scene {
  /** In kebab case, as in `person-private`: the name of its pictures. */
  readonly name: string;
  /** Who looks. */
  readonly visitor: Visitor;
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
