import { RefreshLog } from './RefreshLog';
import { expect, test } from './test';
import { alice } from './Visitor';

test.use({ portalConfig: ['no-auto-sign-in.yaml'] });

test('a site can have its people click before a ticket is asked for', async ({
  portal,
  visit,
}) => {
  const page = await visit(alice);
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

test('a site says its realm and where its help is', async ({
  portal,
  visit,
}) => {
  const page = await visit();
  await page.goto(portal.url);
  await page.getByRole('button', { name: 'Sign in' }).click();

  await expect(page.getByText('kinit your-name@EXAMPLE.TEST')).toBeVisible();
  await expect(page.getByRole('link', { name: 'More help' })).toHaveAttribute(
    'href',
    'https://help.example.test/sign-in',
  );
});
