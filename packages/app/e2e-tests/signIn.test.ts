import type { Page } from '@playwright/test';
import { RefreshLog, signOut } from './signInHelpers';
import { alice, expect, test } from './test';

const inside = (page: Page) =>
  page.getByRole('link', { name: 'Directory gateway, home' });
const tryAgain = (page: Page) =>
  page.getByRole('button', { name: 'Try again' });

test('a ticket signs in without a click in a fresh profile', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  const refreshes = new RefreshLog(page);

  await page.goto(portal.url);
  await expect(inside(page)).toBeVisible();

  // In a fresh profile, Chromium may ignore earlier challenges.
  expect(refreshes.last().status()).toBe(200);
  const { profile, backstageIdentity } = await refreshes.last().json();
  expect(profile).toEqual({ displayName: 'alice' });
  expect(backstageIdentity.identity).toEqual({
    type: 'user',
    userEntityRef: 'user:default/alice',
    // From the groups in the directory.
    ownershipEntityRefs: expect.arrayContaining([
      'user:default/alice',
      'group:default/contributors',
      'group:default/packager',
    ]),
  });
  expect(await refreshes.last().headerValue('WWW-Authenticate')).toMatch(
    /^Negotiate [A-Za-z0-9+/]+=*$/,
  );
});

test('sign-out lasts until the user signs in', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.goto(portal.url);
  await signOut(page);
  const refreshes = new RefreshLog(page);

  await page.reload();
  await expect(page.getByRole('status').first()).toHaveText(
    /You have signed out/,
  );
  await page.waitForLoadState('networkidle');
  expect(refreshes.statuses()).toEqual([]);

  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(inside(page)).toBeVisible();
  await page.reload();
  await expect(inside(page)).toBeVisible();
});

test.describe('when an account is locked', () => {
  const lock = (locked: boolean) =>
    `dn: uid=dave,cn=users,cn=accounts,dc=example,dc=test\n` +
    `changetype: modify\nreplace: nsAccountLock\n` +
    `nsAccountLock: ${locked ? 'TRUE' : 'FALSE'}\n\n`;

  test.afterEach(({ realm }) => realm.modify(lock(false)));

  test('the session ends at the next renewal and the sign-in page shows the reason', async ({
    portal,
    realm,
    openBrowserAs,
  }) => {
    const page = await openBrowserAs({ ticket: 'dave' });
    await page.clock.install();
    await page.goto(`${portal.url}/directory/people`);
    await expect(inside(page)).toBeVisible();
    await realm.modify(lock(true));
    const me = () =>
      page.evaluate(async () => (await fetch('/api/directory/v1/me/')).status);
    await expect.poll(me).toBe(401);
    const refreshes = new RefreshLog(page);

    // The token is valid for an hour and renewed five minutes before it
    // expires.
    await page.clock.fastForward('57:00');
    // The next request renews the token. If it is one that the page sends by
    // itself, the link disappears.
    await page.evaluate(() =>
      document
        .querySelector<HTMLElement>('a[href="/directory/groups"]')
        ?.click(),
    );
    await expect(page.getByText(/Your account is locked/)).toBeVisible();
    await expect(inside(page)).toBeHidden();
    expect(refreshes.statuses().at(-1)).toBe(401);

    await page.reload();
    await expect(page.getByRole('status').first()).toHaveText(
      /Your account is locked/,
    );
  });
});

test('a session whose token is refused continues with the ticket', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.clock.install();
  await page.goto(`${portal.url}/directory/people`);
  const people = page.getByRole('searchbox', { name: 'Search people' });
  await expect(people).toBeVisible();
  const result = page.getByRole('link', { name: /dave/i }).first();
  let token = '';
  await page.route('**/api/directory/v1/search/users/**', route => {
    const { authorization } = route.request().headers();
    token ||= authorization;
    return authorization === token
      ? route.fulfill({
          status: 401,
          json: { error: { message: 'Illegal token' } },
        })
      : route.continue();
  });
  const refresh = '**/api/auth/kerberos/refresh';
  await page.route(refresh, route =>
    route.fulfill({ status: 401, json: { reason: 'clock_skew' } }),
  );
  // Less than the timeout of scripts that are still loading.
  await page.clock.fastForward('01:30');

  await test.step('without a ticket, the page keeps the text', async () => {
    await people.fill('dave');
    await expect(
      page.getByText('Your session has ended').first(),
    ).toBeVisible();
    await expect(people).toHaveValue('dave');
  });

  await test.step('with a new ticket, the page continues', async () => {
    await page.unroute(refresh);
    await page.getByRole('button', { name: 'Sign in again' }).first().click();
    await expect(result).toBeVisible();
    await expect(page.getByText('Your session has ended')).toHaveCount(0);
    await expect(people).toHaveValue('dave');
  });
});

test('without a ticket, the keyboard copies both fixes and signs in as the guest', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs();
  const refreshes = new RefreshLog(page);
  await page.goto(portal.url);

  await expect(page.getByRole('status').first()).toHaveText(
    'Your browser did not send a Kerberos ticket.',
  );
  await expect(page.getByRole('heading', { level: 2 })).toHaveText([
    'Get a ticket',
    'Allow Chromium to send the ticket to localhost',
  ]);
  await expect(tryAgain(page)).toBeEnabled();
  await page.waitForLoadState('networkidle');
  expect(refreshes.statuses()).toEqual([401, 401, 401]);

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(clipboard).toBe('kinit');

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(clipboard).toContain('"AuthServerAllowlist": "localhost"');

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => refreshes.statuses()).toEqual(Array(6).fill(401));
  await expect(tryAgain(page)).toBeFocused();

  const response = page.waitForResponse('**/api/auth/guest/refresh');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(inside(page)).toBeVisible();
  const { backstageIdentity } = await (await response).json();
  expect(backstageIdentity.identity.userEntityRef).toBe('user:default/alice');

  await page.reload();
  await expect(inside(page)).toBeVisible();
});
