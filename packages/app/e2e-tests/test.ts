import { startRealm, type Realm } from '@directory-gateway/realm';
import { test as base, type BrowserContext, type Page } from '@playwright/test';
import { join, resolve } from 'node:path';
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

  /**
   * Opens a tab in a browser that stays open for whoever comes with the same
   * ticket: much quicker than {@link visit}, for tests that look and leave
   * nothing behind. The tab closes when the test ends.
   */
  readonly openTab: (visitor: Visitor) => Promise<Page>;
}

/** What tests share. */
export interface WorkerFixtures {
  /** Configuration files of this folder, loaded after those of the demo. */
  readonly portalConfig: readonly string[];
  /** A realm with 200 people. Whoever changes it, changes it back. */
  readonly realm: Realm;
  /** The portal's production build, ready. */
  readonly portal: Portal;
  /** The browsers that {@link Fixtures.openTab} keeps open. */
  readonly browserOf: (visitor: Visitor) => Promise<BrowserContext>;
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
    { scope: 'worker', timeout: 600_000 },
  ],

  portal: [
    async ({ realm, portalConfig }, provide) => {
      const config = portalConfig.map(file => resolve(__dirname, file));
      const portal = await Portal.start({ realm, config });
      await provide(portal);
      await portal.stop();
    },
    { scope: 'worker', timeout: 600_000 },
  ],

  browserOf: [
    async ({ portal }, provide, { project, workerIndex }) => {
      const browsers = new Map<string, Promise<BrowserContext>>();
      await provide(visitor => {
        const { ticket = 'nobody' } = visitor;
        const folder = join(
          project.outputDir,
          `browsers-${workerIndex}`,
          ticket.replaceAll('/', '-'),
        );
        const browser =
          browsers.get(ticket) ?? openBrowser({ portal, visitor, folder });
        browsers.set(ticket, browser);
        return browser;
      });
      for (const browser of browsers.values()) {
        await (await browser).close();
      }
    },
    { scope: 'worker' },
  ],

  openTab: async ({ browserOf }, provide) => {
    const tabs: Page[] = [];
    await provide(async visitor => {
      const tab = await (await browserOf(visitor)).newPage();
      tabs.push(tab);
      return tab;
    });
    for (const tab of tabs) {
      await tab.close();
    }
  },

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
