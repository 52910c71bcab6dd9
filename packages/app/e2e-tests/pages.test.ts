import { alice, expect, test } from './test';

test('pages report no errors', async ({ portal, openBrowserAs }) => {
  const page = await openBrowserAs(alice);
  // The catalog imports the directory in the first seconds after the portal is
  // ready.
  await expect(async () => {
    await page.goto(`${portal.url}/catalog/default/user/alice`);
    await expect(
      page.getByRole('heading', { name: 'alice' }).first(),
    ).toBeVisible({ timeout: 10_000 });
  }).toPass();
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') {
      errors.push(message.text());
    }
  });

  for (const [path, heading] of [
    ['/', 'Welcome to Directory gateway'],
    ['/catalog', 'Example Catalog'],
    ['/directory/people', 'People'],
    ['/directory/people/dave', 'Dave'],
    ['/directory/groups', 'Groups'],
    ['/directory/groups/packager', 'packager'],
    ['/directory/certificates', 'Certificates'],
    ['/directory/certificates/request', 'Choose a purpose'],
    ['/notifications', 'Notifications'],
    ['/settings', 'Settings'],
    ['/catalog/default/user/alice', 'alice'],
  ]) {
    await page.goto(portal.url + path);
    await expect(
      page.getByRole('heading', { name: heading }).first(),
    ).toBeVisible();
    await page.waitForLoadState('networkidle');
    await expect(page.getByText(/^Error in |No implementation/)).toHaveCount(0);
  }
  const saved = page.waitForResponse(
    response =>
      response.request().method() === 'PUT' &&
      response.url().includes('/api/user-settings/'),
  );
  await page.getByRole('button', { name: 'Add to favorites' }).click();

  expect((await saved).status()).toBe(200);
  expect(errors).toEqual([]);
});

test('a path that starts with a host stays on the portal', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  const left: string[] = [];
  page.on('request', request => {
    if (request.isNavigationRequest()) {
      left.push(new URL(request.url()).origin);
    }
  });
  await page.goto(portal.url);
  await page.goto(`${portal.url}//evil.test/x`);
  const back = page.getByRole('link', { name: 'Go to the home page' });
  await expect(back).toBeVisible();
  await expect(page).toHaveTitle('Page not found · Directory gateway');
  await expect(page).toHaveURL(`${portal.url}/evil.test/x`);
  expect(await back.evaluate(link => (link as HTMLAnchorElement).origin)).toBe(
    portal.url,
  );

  await back.click();
  await expect(
    page.getByRole('heading', { name: 'Welcome to Directory gateway' }),
  ).toBeVisible();
  expect(new Set(left)).toEqual(new Set([portal.url]));

  await test.step('a path below the page of a user does not exist', async () => {
    await page.goto(`${portal.url}/directory/people/alice/other`);
    await expect(
      page.getByRole('heading', { level: 1, name: 'Page not found' }),
    ).toBeVisible();
    await expect(page.getByRole('main')).toHaveCount(1);
    await expect(page).toHaveTitle('Page not found · Directory gateway');
  });
});

test('a page is reloaded once when its code cannot be loaded', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  const loaded = new Set<string>();
  page.on('requestfinished', request => loaded.add(request.url()));
  await page.goto(`${portal.url}/directory/people`);
  await expect(page.getByRole('searchbox')).toBeVisible();
  await page.waitForLoadState('networkidle');

  // The files that the new version of the portal has replaced.
  await page.route('**/static/**', route =>
    loaded.has(route.request().url())
      ? route.continue()
      : route.fulfill({ status: 404 }),
  );
  await page.getByRole('link', { name: 'Groups', exact: true }).click();
  const reload = page.getByRole('button', { name: 'Reload' });
  await expect.poll(() => loads).toBe(2);
  await expect(reload).toBeVisible();
  await expect(
    page.getByText('This content could not be loaded'),
  ).toBeVisible();
  expect(loads).toBe(2);

  await test.step('Find stays available', async () => {
    await page.getByRole('button', { name: 'Find' }).click();
    await expect(page.getByText(/^“Find” could not be opened/)).toBeVisible();
    await expect(page.getByRole('button', { name: 'Find' })).toBeVisible();
  });

  await page.unrouteAll();
  await reload.click();
  await expect(
    page.getByRole('heading', { level: 1, name: 'Groups' }),
  ).toBeVisible();
});
