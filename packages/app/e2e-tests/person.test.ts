import { alice, expect, test } from './test';

test('a private profile is complete only for its owner', async ({
  portal,
  openBrowserAs,
}) => {
  const other = await openBrowserAs(alice);
  await other.goto(`${portal.url}/directory/people/bob`);
  await expect(other.getByText('This profile is private')).toBeVisible();
  await expect(other.getByText('bob@example.test')).toBeVisible();
  await expect(other.getByText('bob-gh')).toBeHidden();
  await expect(other.getByRole('tab', { name: /Keys/ })).toBeHidden();

  const owner = await openBrowserAs({ ticket: 'bob' });
  await owner.goto(`${portal.url}/directory/people/bob`);
  await expect(owner.getByRole('link', { name: 'bob-gh' })).toBeVisible();
  await owner.getByText('View as others see it').click();
  await expect(owner.getByText('This profile is private')).toBeVisible();
  await expect(owner.getByText('bob-gh')).toBeHidden();
});

test('copies the username and keys', async ({ portal, openBrowserAs }) => {
  const page = await openBrowserAs(alice);
  await page.goto(`${portal.url}/directory/people/alice?tab=keys`);

  await expect(page.getByText(/^It is .+ in Paris/)).toBeVisible();
  await page.getByRole('button', { name: 'Copy username' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    'alice',
  );
  await page.getByRole('button', { name: 'Copy GitHub name alice-gh' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    'alice-gh',
  );
  await page
    .getByRole('button', { name: 'Copy alice@laptop in authorized_keys' })
    .click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^ssh-ed25519 AAAA\S+ alice@laptop$/,
  );
});

test('an inherited membership shows its path', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.goto(`${portal.url}/directory/people/dave`);

  await page
    .getByRole('button', { name: 'Show why Dave Certs is in packager' })
    .click();
  await expect(page.getByRole('dialog').getByRole('listitem')).toHaveText([
    'Dave Certs',
    'provenpackager',
    'packager',
  ]);
});

test.describe('when the directory becomes unavailable', () => {
  test.afterEach(({ portal }) => portal.startDirectory());

  test('loaded data stays with the error and the next retry', async ({
    portal,
    openBrowserAs,
  }) => {
    const page = await openBrowserAs(alice);
    await page.clock.install();
    await page.goto(`${portal.url}/directory/people/alice`);
    const group = page.getByRole('link', { name: 'packager', exact: true });
    await expect(group).toBeVisible();

    await portal.stopDirectory();
    // The user returns to the tab after a minute.
    await page.clock.fastForward('01:00');
    await page.evaluate(() =>
      window.dispatchEvent(new Event('visibilitychange')),
    );
    const notice = page.getByText('The directory is unavailable').first();
    await expect(notice).toBeVisible();
    await expect(page.getByText(/Retrying in/).first()).toBeVisible();
    await expect(group).toBeVisible();
    await expect(page.getByText('alice.liddell@example.com')).toBeVisible();

    await portal.startDirectory();
    await expect(async () => {
      await page.clock.fastForward('00:30');
      await expect(page.getByText('The directory is unavailable')).toHaveCount(
        0,
        { timeout: 5_000 },
      );
    }).toPass({ timeout: 90_000 });
    await expect(group).toBeVisible();
  });

  test('a page that cannot be loaded shows a retry button', async ({
    portal,
    openBrowserAs,
  }) => {
    const page = await openBrowserAs(alice);
    await page.goto(`${portal.url}/directory/people`);
    await expect(
      page.getByRole('heading', { name: 'People in your groups' }),
    ).toBeVisible();

    await portal.stopDirectory();
    await page.getByRole('article').first().click();
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    await expect(
      page.getByRole('link', { name: 'Groups', exact: true }),
    ).toBeVisible();
  });
});
