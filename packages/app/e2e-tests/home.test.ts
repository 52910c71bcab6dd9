import { alice, expect, test } from './test';

test('the home page opens people with the keyboard and lists them as recently visited', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.goto(portal.url);
  await expect(page).toHaveTitle('Home · Directory gateway');
  for (const [region, text] of [
    ['My groups', 'contributors'],
    ['My certificates', /certificate/],
    ['Recently visited', 'People whose pages you visit appear here.'],
    ['People in your groups', /./],
  ] as const) {
    await expect(
      page.getByRole('region', { name: region }).getByText(text).first(),
    ).toBeVisible();
  }

  const search = page.getByRole('searchbox', {
    name: 'Search people and groups',
  });
  await expect(search).toBeFocused();
  const focusedRegions: string[] = [];
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press('Tab');
    const region = await page.evaluate(
      () =>
        document.activeElement?.closest('section')?.querySelector('h2')
          ?.textContent ?? '',
    );
    if (region && region !== focusedRegions.at(-1)) {
      focusedRegions.push(region);
    }
  }
  expect(focusedRegions.slice(0, 4)).toEqual([
    'My groups',
    'My certificates',
    'Recently visited',
    'People in your groups',
  ]);

  await search.fill('dave');
  await search.press('Enter');
  await expect(page).toHaveURL(/\/directory\/people\?q=dave$/);
  await page.getByRole('link', { name: /dave$/ }).first().press('Enter');
  await expect(page).toHaveURL(/\/directory\/people\/dave$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/Dave/);

  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await expect(page).toHaveTitle('Home · Directory gateway');
  await expect(
    page
      .getByRole('region', { name: 'Recently visited' })
      .getByRole('link', { name: /dave$/ }),
  ).toBeVisible();
});
