import { expect } from '@playwright/test';
import { alice } from '../test';
import type { Scene } from './Scene';
import { signOut } from '../signInHelpers';

/** The sign-in page in another browser. */
function inBrowser(options: {
  readonly name: string;
  readonly userAgent: string;
  readonly fix: string;
}): Scene {
  const { name, userAgent, fix } = options;
  return {
    name,
    caller: {},
    isInUrl: true,
    ownTab: true,
    async open({ page, portal }) {
      await page.addInitScript(value => {
        Object.defineProperty(navigator, 'userAgent', { value });
        Object.defineProperty(navigator, 'userAgentData', { value: undefined });
      }, userAgent);
      await page.goto(portal.url);
      const shown = page.getByText(fix);
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

/** The sign-in page in all states. */
export const signInScenes: readonly Scene[] = [
  {
    name: 'sign-in-no-ticket',
    caller: {},
    isInUrl: true,
    async open({ page, portal }) {
      await page.goto(portal.url);
      const shown = page.getByRole('heading', { name: 'Get a ticket' });
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  inBrowser({
    name: 'sign-in-firefox',
    userAgent:
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    fix: 'about:config',
  }),
  inBrowser({
    name: 'sign-in-edge-on-windows',
    userAgent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    fix: 'reg add',
  }),
  {
    name: 'sign-in-locked',
    caller: { ticket: 'carol' },
    isInUrl: true,
    async open({ page, portal }) {
      await page.goto(portal.url);
      const shown = page
        .getByRole('main')
        .filter({ hasText: 'Your account is locked' });
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  {
    name: 'sign-in-signed-out',
    caller: alice,
    async open({ page, portal }) {
      await page.goto(portal.url);
      await signOut(page);
      return page.getByRole('main').filter({ hasText: 'You have signed out' });
    },
  },
  {
    name: 'sign-in-no-network',
    caller: {},
    async open({ page, portal }) {
      await page.goto(portal.url);
      const tryAgain = page.getByRole('button', { name: 'Try again' });
      await expect(tryAgain).toBeVisible();
      await page.route('**/api/auth/**', route =>
        route.abort('internetdisconnected'),
      );
      await tryAgain.click();
      const shown = page
        .getByRole('main')
        .filter({ hasText: 'could not be reached' });
      await expect(shown).toBeVisible();
      return shown;
    },
  },
];
