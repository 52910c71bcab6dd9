import { expect } from '@playwright/test';
import { alice } from '../Visitor';
import type { Scene } from './Scene';
import { signOut } from '../signOut';

/** Somebody whose ticket does not let them in. */
function refused(options: {
  readonly name: string;
  readonly ticket: string;
  readonly sentence: RegExp;
}): Scene {
  const { name, ticket, sentence } = options;
  return {
    name,
    visitor: { ticket },
    async open({ page, portal }) {
      await page.goto(portal.url);
      const shown = page.getByRole('main').filter({ hasText: sentence });
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

/** The same page as another browser would show it. */
function asSeenIn(options: {
  readonly name: string;
  readonly userAgent: string;
  readonly fix: string;
}): Scene {
  const { name, userAgent, fix } = options;
  return {
    name,
    visitor: {},
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

/** The sign-in page in its states. */
export const signInScenes: readonly Scene[] = [
  {
    name: 'sign-in-no-ticket',
    visitor: {},
    async open({ page, portal }) {
      await page.goto(portal.url);
      const shown = page.getByRole('heading', { name: 'Get a ticket' });
      await expect(shown).toBeVisible();
      return shown;
    },
  },
  asSeenIn({
    name: 'sign-in-firefox',
    userAgent:
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    fix: 'about:config',
  }),
  asSeenIn({
    name: 'sign-in-edge-on-windows',
    userAgent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    fix: 'reg add',
  }),
  asSeenIn({
    name: 'sign-in-safari',
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    fix: 'kinit',
  }),
  refused({
    name: 'sign-in-locked',
    ticket: 'carol',
    sentence: /Your account is locked/,
  }),
  refused({
    name: 'sign-in-unknown',
    ticket: 'ghost',
    sentence: /the portal does not know you/,
  }),
  refused({
    name: 'sign-in-service',
    ticket: 'bot/builder.example.test',
    sentence: /belongs to a service or a host/,
  }),
  {
    name: 'sign-in-signed-out',
    visitor: alice,
    async open({ page, portal }) {
      await page.goto(portal.url);
      await signOut(page);
      return page.getByRole('main').filter({ hasText: 'You have signed out' });
    },
  },
  {
    name: 'sign-in-no-network',
    visitor: {},
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
        .filter({ hasText: 'did not answer' });
      await expect(shown).toBeVisible();
      return shown;
    },
  },
];
