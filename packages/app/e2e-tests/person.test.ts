import { alice, expect, test } from './test';

test('a private profile is complete only for its owner', async ({
  portal,
  openTabAs,
}) => {
  const other = await openTabAs(alice);
  await other.goto(`${portal.url}/directory/people/bob`);
  await expect(other.getByText('This profile is private')).toBeVisible();
  await expect(other.getByText('bob@example.test')).toBeVisible();
  await expect(other.getByText('bob-gh')).toBeHidden();
  await expect(other.getByRole('tab', { name: /Keys/ })).toBeHidden();

  const owner = await openTabAs({ ticket: 'bob' });
  await owner.goto(`${portal.url}/directory/people/bob`);
  await expect(owner.getByRole('link', { name: 'bob-gh' })).toBeVisible();
  await owner.getByText('View as others see it').click();
  await expect(owner.getByText('This profile is private')).toBeVisible();
  await expect(owner.getByText('bob-gh')).toBeHidden();
});

test('copies the username and keys', async ({ portal, openTabAs }) => {
  const page = await openTabAs(alice);
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
  openTabAs,
}) => {
  const page = await openTabAs(alice);
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
