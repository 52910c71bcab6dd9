import { alice, expect, test } from './test';

test('group search works with the keyboard only', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/groups`);
  await expect(page.getByRole('searchbox')).toBeFocused();

  await page.keyboard.type('provenp');
  await expect(page).toHaveURL(/\?q=provenp$/);
  await expect(page.getByText('1 group', { exact: true })).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('row', { name: /provenpackager/ })).toBeFocused();
  await page.keyboard.press('Enter');

  await expect(page).toHaveURL(/\/directory\/groups\/provenpackager$/);
  await expect(page).toHaveTitle('provenpackager · Directory gateway');
  await page.goBack();
  await expect(page.getByRole('searchbox')).toHaveValue('provenp');
});

test('groups are listed in pages and the page is in the URL', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/groups`);
  const first = page.getByRole('rowheader').first();
  const name = await first.textContent();

  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(first).not.toHaveText(name!);
  await page.goBack();
  await expect(first).toHaveText(name!);

  await page.getByRole('columnheader', { name: 'Members' }).click();
  await page.getByRole('columnheader', { name: 'Members' }).click();
  await expect(first).toHaveText(/^contributors/);
  await page.getByRole('radio', { name: 'My groups' }).click();
  await expect(page).toHaveURL(/mine=&sort=-member_count$/);
  await expect(
    page.getByRole('row', { name: 'packager', exact: true }),
  ).toBeVisible();
  await expect(page.getByRole('row', { name: /unsung/ })).toHaveCount(0);

  await page.getByRole('link', { name: 'packager', exact: true }).click();
  await expect(page).toHaveURL(/\/directory\/groups\/packager$/);
  await page.goBack();
  await expect(page).toHaveURL(/mine=&sort=-member_count$/);
});
