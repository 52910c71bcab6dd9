import { RefreshLog } from './signInHelpers';
import { alice, expect, test } from './test';

test.use({ portalConfig: ['no-auto-sign-in.yaml'] });

test('autoSignIn: false waits for a click', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  const refreshes = new RefreshLog(page);
  await page.goto(portal.url);
  const signIn = page.getByRole('button', { name: 'Sign in' });
  await expect(signIn).toBeVisible();
  await page.waitForLoadState('networkidle');
  expect(refreshes.statuses()).toEqual([]);

  await signIn.click();

  await expect(
    page.getByRole('link', { name: 'Directory gateway, home' }),
  ).toBeVisible();
  expect(refreshes.last().status()).toBe(200);
});

test('the sign-in page shows the configured realm and help link', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs();
  await page.goto(portal.url);
  await page.getByRole('button', { name: 'Sign in' }).click();

  await expect(page.getByText('kinit your-name@EXAMPLE.TEST')).toBeVisible();
  await expect(page.getByRole('link', { name: 'More help' })).toHaveAttribute(
    'href',
    'https://help.example.test/sign-in',
  );
});
