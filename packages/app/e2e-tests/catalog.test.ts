import { alice, expect, test } from './test';

/** Directory entries and their catalog entities. */
const linked = [
  {
    what: 'a user',
    directory: '/directory/people/alice',
    catalog: '/catalog/default/user/alice',
    titles: ['In the directory', 'Certificates'],
    card: 'Alice Liddell',
  },
  {
    what: 'a group',
    directory: '/directory/groups/packager',
    catalog: '/catalog/default/group/packager',
    titles: ['In the directory'],
    card: /^\d+ members$/,
  },
];

for (const { what, directory, catalog, titles, card } of linked) {
  test(`${what} links the directory and the catalog`, async ({
    portal,
    openTabAs,
  }) => {
    const page = await openTabAs(alice);
    const link = page.getByRole('link', { name: 'Open in the catalog' });
    // The catalog imports the directory in the first seconds after the portal
    // is ready.
    await expect(async () => {
      await page.goto(`${portal.url}${directory}`);
      await expect(link).toBeVisible({ timeout: 10_000 });
    }).toPass({ timeout: 300_000 });
    await link.click();
    await expect(page).toHaveURL(portal.url + catalog);

    for (const name of titles) {
      await expect(page.getByRole('heading', { name })).toBeVisible();
    }
    await expect(page.getByText(card).first()).toBeVisible();
    await page.getByRole('link', { name: 'Open the directory page' }).click();
    await expect(page).toHaveURL(portal.url + directory);
  });
}

test('the search finds users and groups', async ({ portal, openTabAs }) => {
  const page = await openTabAs(alice);
  for (const { query, name, href } of [
    { query: 'Liddell', name: /Alice Liddell/, href: 'user/alice' },
    { query: 'packager', name: /^packager/, href: 'group/packager' },
  ]) {
    // The search index is updated a few seconds after the catalog.
    await expect(async () => {
      await page.goto(`${portal.url}/search?query=${query}`);
      const result = page.getByRole('link', { name }).first();
      await expect(result).toHaveAttribute('href', `/catalog/default/${href}`, {
        timeout: 10_000,
      });
    }).toPass({ timeout: 300_000 });
  }
});
