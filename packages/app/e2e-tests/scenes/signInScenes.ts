import { expect } from '@playwright/test';
import { alice } from '../test';
import type { Scene } from './Scene';
import { signOut } from '../signInHelpers';

/** The sign-in page for a rejected ticket. */
function rejected(options: {
  readonly name: string;
  readonly ticket: string;
  readonly sentence: RegExp;
}): Scene {
  const { name, ticket, sentence } = options;
  return {
    name,
    caller: { ticket },
    isInUrl: true,
    async open({ page, portal }) {
      await page.goto(portal.url);
      const shown = page.getByRole('main').filter({ hasText: sentence });
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

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
  inBrowser({
    name: 'sign-in-safari',
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    fix: 'kinit',
  }),
  rejected({
    name: 'sign-in-locked',
    ticket: 'carol',
    sentence: /Your account is locked/,
  }),
  rejected({
    name: 'sign-in-unknown',
    ticket: 'ghost',
    sentence: /portal has no user for your account/,
  }),
  rejected({
    name: 'sign-in-service',
    ticket: 'bot/builder.example.test',
    sentence: /belongs to a service or a host/,
  }),
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
