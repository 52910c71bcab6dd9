import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  test as base,
  chromium,
  type BrowserContext,
  type Page,
} from '@playwright/test';
import { join, resolve } from 'node:path';
import { Portal } from './Portal';

export { expect } from '@playwright/test';

/** Kerberos credentials of a browser. */
export interface Caller {
  /**
   * Principal of the ticket in the browser's environment, such as `alice`,
   * `carol` (locked) or `bob` (private); see the README of the realm. Defaults
   * to no ticket.
   */
  readonly ticket?: string;
}

/**
 * A user who may revoke certificates and export members, as set in
 * `portal.yaml`.
 */
export const officer: Caller = { ticket: 'john.doe' };

/** An ordinary user with a ticket. */
export const alice: Caller = { ticket: 'alice' };

/** Path of Debian's Chromium, unless `CHROMIUM` is set. */
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/**
 * Opens Chromium with a fresh profile in `folder`. A context of a shared
 * browser would not work: tickets come from the environment of the whole
 * browser, and such contexts are private windows, which do not send tickets.
 */
async function openBrowser(options: {
  readonly portal: Portal;
  readonly caller: Caller;
  readonly folder: string;
}): Promise<BrowserContext> {
  const { portal, caller, folder } = options;
  const { ticket } = caller;
  const ticketCache =
    ticket === undefined
      ? `FILE:${join(folder, 'no-ticket')}`
      : await portal.realm.ticket(ticket);
  const browser = await chromium.launchPersistentContext(
    join(folder, 'profile'),
    {
      executablePath,
      // Chromium's sandbox does not work for root.
      chromiumSandbox: process.getuid?.() !== 0,
      args: ['--disable-quic', '--auth-server-allowlist=localhost'],
      env: {
        ...(process.env as Record<string, string>),
        KRB5_CONFIG: portal.realm.krb5Config,
        KRB5CCNAME: ticketCache,
      },
      permissions: ['clipboard-read', 'clipboard-write'],
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    },
  );
  // Colors that fade have less contrast than those that users read.
  await browser.addInitScript(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      '*, ::before, ::after { animation-duration: 0s !important; transition: none !important; }',
    );
    document.adoptedStyleSheets.push(sheet);
  });
  return browser;
}

/** Test fixtures in addition to Playwright's. */
export interface Fixtures {
  /**
   * Opens a browser with a fresh profile and a blank page. The browser closes
   * when the test ends.
   */
  readonly openBrowserAs: (caller?: Caller) => Promise<Page>;

  /**
   * Opens a tab in a browser shared by all callers with the same ticket. Much
   * faster than {@link openBrowserAs}, for tests that do not change any state.
   * The tab closes when the test ends.
   */
  readonly openTabAs: (caller: Caller) => Promise<Page>;
}

/** Fixtures shared by tests. */
export interface WorkerFixtures {
  /** Configuration files in this folder, loaded after those of the demo. */
  readonly portalConfig: readonly string[];
  /** The realm of the demo, with `USERS` people (200). Tests must restore what they change. */
  readonly realm: Realm;
  /** The production build of the portal, ready for requests. */
  readonly portal: Portal;
  /** The browsers that {@link Fixtures.openTabAs} keeps open. */
  readonly sharedBrowser: (caller: Caller) => Promise<BrowserContext>;
  /**
   * Returns the same tab for the same ticket, without the routes and the
   * `sessionStorage` of the last test. Its next page opens in half the time
   * that a new tab needs.
   */
  readonly reuseTabOf: (caller: Caller) => Promise<Page>;
}

/**
 * Playwright's `test` with a portal. Do not use Playwright's own `page` and
 * `browser`: they do not have tickets.
 */
export const test = base.extend<Fixtures, WorkerFixtures>({
  portalConfig: [['portal.yaml'], { scope: 'worker', option: true }],

  realm: [
    // eslint-disable-next-line no-empty-pattern -- Playwright requires a pattern
    async ({}, provide) => {
      const users = Number(process.env.USERS || 200);
      const realm = await startRealm({ users });
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

  sharedBrowser: [
    async ({ portal }, provide, { project, workerIndex }) => {
      const browsers = new Map<string, Promise<BrowserContext>>();
      await provide(caller => {
        const { ticket = 'none' } = caller;
        const folder = join(
          project.outputDir,
          `browsers-${workerIndex}`,
          ticket.replaceAll('/', '-'),
        );
        const browser =
          browsers.get(ticket) ?? openBrowser({ portal, caller, folder });
        browsers.set(ticket, browser);
        return browser;
      });
      for (const browser of browsers.values()) {
        await (await browser).close();
      }
    },
    { scope: 'worker' },
  ],

  reuseTabOf: [
    async ({ sharedBrowser }, provide) => {
      const tabs = new Map<string | undefined, Page>();
      await provide(async caller => {
        const { ticket } = caller;
        const tab = tabs.get(ticket);
        if (tab) {
          await tab.unrouteAll({ behavior: 'ignoreErrors' });
          await tab.evaluate(() => sessionStorage.clear());
          return tab;
        }
        const opened = await (await sharedBrowser(caller)).newPage();
        tabs.set(ticket, opened);
        return opened;
      });
    },
    { scope: 'worker' },
  ],

  openTabAs: async ({ sharedBrowser }, provide) => {
    const tabs: Page[] = [];
    await provide(async caller => {
      const tab = await (await sharedBrowser(caller)).newPage();
      tabs.push(tab);
      return tab;
    });
    for (const tab of tabs) {
      await tab.close();
    }
  },

  openBrowserAs: async ({ portal }, provide, testInfo) => {
    const browsers: BrowserContext[] = [];
    await provide(async (caller = {}) => {
      const folder = testInfo.outputPath(`browser-${browsers.length}`);
      const browser = await openBrowser({ portal, caller, folder });
      browsers.push(browser);
      return browser.pages()[0];
    });
    for (const browser of browsers) {
      await browser.close();
    }
  },
});
