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

test('a user without a catalog entity can sign in', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs({ ticket: 'bob' });
  const refreshes = new RefreshLog(page);

  await page.goto(portal.url);
  await expect(inside(page)).toBeVisible();

  const { backstageIdentity } = await refreshes.last().json();
  expect(backstageIdentity.identity.userEntityRef).toBe('user:default/bob');
});

for (const [what, caller] of [
  ['without a ticket', {}],
  [
    'with a ticket that the browser does not send',
    { ticket: 'alice', hostAllowed: false },
  ],
] as const) {
  test(`the sign-in page ${what} shows both fixes and does not retry automatically`, async ({
    portal,
    openBrowserAs,
  }) => {
    const page = await openBrowserAs(caller);
    const refreshes = new RefreshLog(page);

    await page.goto(portal.url);

    await expect(page.getByRole('status').first()).toHaveText(
      'Your browser did not send a Kerberos ticket.',
    );
    await expect(page.getByRole('heading', { level: 2 })).toHaveText([
      'Get a ticket',
      'Allow Chromium to send the ticket to localhost',
    ]);
    await tryAgain(page).click();
    await expect.poll(() => refreshes.statuses()).toHaveLength(6);
    await expect(tryAgain(page)).toBeEnabled();
    await page.waitForLoadState('networkidle');
    expect(refreshes.statuses()).toEqual(Array(6).fill(401));
  });
}

for (const [ticket, sentence] of [
  ['carol', /Your account is locked/],
  ['ghost', /portal has no user for your account/],
  ['bot/builder.example.test', /belongs to a service or a host/],
  ['plus+user', /characters that the portal cannot use/],
] as const) {
  test(`${ticket} is rejected with a reason`, async ({
    portal,
    openBrowserAs,
  }) => {
    const page = await openBrowserAs({ ticket });
    const refreshes = new RefreshLog(page);

    await page.goto(portal.url);

    await expect(page.getByRole('status').first()).toHaveText(sentence);
    expect(new Set(refreshes.statuses())).toEqual(new Set([401]));
    await expect(inside(page)).toBeHidden();
  });
}

test('the guest signs in as alice', async ({ portal, openBrowserAs }) => {
  const page = await openBrowserAs();
  await page.goto(portal.url);
  const response = page.waitForResponse('**/api/auth/guest/refresh');

  await page.getByRole('button', { name: 'Enter as Alice (demo)' }).click();

  await expect(inside(page)).toBeVisible();
  const { backstageIdentity } = await (await response).json();
  expect(backstageIdentity.identity.userEntityRef).toBe('user:default/alice');

  await page.reload();
  await expect(inside(page)).toBeVisible();
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
    await page.getByRole('link', { name: 'Groups', exact: true }).click();
    await expect(page.getByText(/Your account is locked/)).toBeVisible();
    await expect(inside(page)).toBeHidden();
    expect(refreshes.statuses().at(-1)).toBe(401);

    await page.reload();
    await expect(page.getByRole('status').first()).toHaveText(
      /Your account is locked/,
    );
  });
});

test('the sign-in page retries until the directory is available', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  let failures = 0;
  await page.route('**/api/auth/kerberos/refresh', route => {
    failures += 1;
    return failures > 2
      ? route.continue()
      : route.fulfill({
          status: 503,
          headers: { 'Retry-After': '1' },
          json: { message: 'The directory is currently unavailable.' },
        });
  });

  await page.goto(portal.url);
  await expect(page.getByRole('timer')).toHaveText(/^Retrying in/);
  await expect(page.getByRole('status').first()).toHaveText(
    'The directory is currently unavailable.',
  );
  await expect(inside(page)).toBeVisible();
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

test('the sign-in page works with the keyboard only', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs();
  await page.goto(portal.url);
  await expect(tryAgain(page)).toBeVisible();

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(clipboard).toBe('kinit');

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(clipboard).toContain('"AuthServerAllowlist": "localhost"');

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(tryAgain(page)).toBeFocused();

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(inside(page)).toBeVisible();
});

test('only scripts of the portal can trigger Negotiate', async ({ portal }) => {
  const url = `${portal.url}/api/auth/kerberos/refresh`;

  const image = await fetch(url);
  expect(image.status).toBe(403);
  expect(image.headers.get('WWW-Authenticate')).toBeNull();

  const foreign = await fetch(url, {
    headers: {
      'X-Requested-With': 'XMLHttpRequest',
      Origin: 'https://elsewhere.example.org',
    },
  });
  expect(foreign.status).toBe(403);

  const own = await fetch(url, {
    headers: { 'X-Requested-With': 'XMLHttpRequest', Origin: portal.url },
  });
  expect(own.status).toBe(401);
  expect(own.headers.get('WWW-Authenticate')).toBe('Negotiate');
  expect(own.headers.get('Cache-Control')).toBe('no-store');
  expect(await own.json()).toEqual({
    reason: 'no_credentials',
    message: expect.stringContaining('ticket'),
  });
});
