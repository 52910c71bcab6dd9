import type { Page } from '@playwright/test';
import type { Portal } from '../Portal';
import type { Visitor } from '../Visitor';

/**
 * A page in one of its states. `make screenshots` takes pictures of every
 * scene, and `accessibility.test.ts` lets axe examine every one, both in light
 * and dark and on wide and narrow screens. Scenes with the same ticket share a
 * browser, each in a tab of its own.
 */
export interface Scene {
  /** In kebab case, as in `person-private`: the name of its pictures. */
  readonly name: string;
  /** Who looks. */
  readonly visitor: Visitor;
  /**
   * Brings a blank page into the state and waits for the last thing to appear.
   */
  readonly open: (options: {
    readonly page: Page;
    readonly portal: Portal;
  }) => Promise<void>;
}
