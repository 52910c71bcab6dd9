import { startRealm, type Realm } from '@directory-gateway/realm';
import { test as base, type Page } from '@playwright/test';
import { resolve } from 'node:path';
import { openBrowser } from './openBrowser';
import { Portal } from './Portal';
import type { Visitor } from './Visitor';

export { expect } from '@playwright/test';

/** What a test is given beside Playwright's own. */
export interface Fixtures {
  /**
   * Opens a browser with a fresh profile for somebody; the page is blank and
   * knows the portal as its base URL. It closes when the test ends.
   */
  readonly visit: (visitor?: Visitor) => Promise<Page>;
}

/** What tests share. */
export interface WorkerFixtures {
  /** Configuration files of this folder, loaded after those of the demo. */
  readonly portalConfig: readonly string[];
  /** A realm with 200 people. Whoever changes it, changes it back. */
  readonly realm: Realm;
  /** The portal's production build, ready. */
  readonly portal: Portal;
}

/**
 * Playwright's `test`, with a portal. Its own `page` and `browser` are not to
 * be used: they know no tickets.
 */
export const test = base.extend<Fixtures, WorkerFixtures>({
  portalConfig: [['portal.yaml'], { scope: 'worker', option: true }],

  realm: [
    // eslint-disable-next-line no-empty-pattern -- Playwright reads the pattern
    async ({}, provide) => {
      const realm = await startRealm();
      await provide(realm);
      await realm.stop();
    },
    { scope: 'worker', timeout: 180_000 },
  ],

  portal: [
    async ({ realm, portalConfig }, provide) => {
      const config = portalConfig.map(file => resolve(__dirname, file));
      const portal = await Portal.start({ realm, config });
      await provide(portal);
      await portal.stop();
    },
    { scope: 'worker', timeout: 120_000 },
  ],

  visit: async ({ portal }, provide, testInfo) => {
    const browsers: Array<Awaited<ReturnType<typeof openBrowser>>> = [];
    await provide(async (visitor = {}) => {
      const folder = testInfo.outputPath(`visitor-${browsers.length}`);
      const browser = await openBrowser({ portal, visitor, folder });
      browsers.push(browser);
      return browser.pages()[0];
    });
    for (const browser of browsers) {
      await browser.close();
    }
  },
});
