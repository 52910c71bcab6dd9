import { alice, expect, test } from './test';

test('search works with the keyboard only', async ({ portal, openTabAs }) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/people`);
  await expect(page.getByRole('searchbox')).toBeFocused();

  await page.keyboard.type('alice');
  await expect(page).toHaveURL(/\?q=alice$/);
  await expect(page.locator('mark').first()).toHaveText(/alice/i);
  await page.keyboard.press('ArrowDown');
  await expect(
    page.getByRole('link', { name: 'Alice Liddell, alice' }),
  ).toBeFocused();
  await page.keyboard.press('Enter');

  await expect(page).toHaveURL(/\/directory\/people\/alice$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    'Alice Liddell',
  );
  await expect(page).toHaveTitle('Alice Liddell · Directory gateway');
  await page.goBack();
  await expect(page.getByRole('searchbox')).toHaveValue('alice');
});

test('superseded searches are not sent', async ({ portal, openTabAs }) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/people`);
  const searched: string[] = [];
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/search/users/')) {
      searched.push(searchParams.get('q') ?? '');
    }
  });

  // Filled at once: with slow typing, the page would search for the first
  // letters.
  await page.getByRole('searchbox').evaluate((box: HTMLInputElement) => {
    const { set } = Object.getOwnPropertyDescriptor(
      HTMLInputElement.prototype,
      'value',
    )!;
    for (const text of ['a', 'al', 'ali', 'alic', 'alice']) {
      set!.call(box, text);
      box.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  await expect(
    page.getByRole('link', { name: 'Alice Liddell, alice' }),
  ).toBeVisible();

  expect(searched.filter(Boolean)).toEqual(['alice']);
});

test('hidden fields of a private profile are not searchable', async ({
  portal,
  openTabAs,
}) => {
  const hidden = `${portal.url}/directory/people?q=${encodeURIComponent(
    'bob-gh',
  )}`;
  const other = await openTabAs(alice);
  await other.goto(hidden);
  await expect(other.getByText('No people found')).toBeVisible();

  const owner = await openTabAs({ ticket: 'bob' });
  await owner.goto(hidden);
  await expect(owner.getByText('Bob Private')).toBeVisible();
});

test('words are found in any order, and similar names are suggested', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  const found = page.getByRole('link', { name: 'Alice Liddell, alice' });
  await page.goto(`${portal.url}/directory/people?q=Liddell,+Alice`);
  await expect(found).toBeVisible();

  await page.goto(`${portal.url}/directory/people?q=alcie`);
  await expect(
    page.getByRole('heading', { name: 'Did you mean…?' }),
  ).toBeVisible();
  await expect(found).toBeVisible();

  await page.goto(`${portal.url}/directory/people?q=packager`);
  await page.getByRole('link', { name: 'packager', exact: true }).click();
  await expect(page).toHaveURL(/\/directory\/groups\/packager$/);
});

test('filters are in the URL and can be removed', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/people`);
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Group' }).fill('provenp');
  await page.getByRole('option', { name: /provenpackager/ }).click();

  await expect(page).toHaveURL(/group=provenpackager/);
  await expect(
    page.getByRole('heading', { name: 'People matching the filters' }),
  ).toBeVisible();
  // The first Escape closes the combobox.
  await expect(async () => {
    await page.keyboard.press('Escape');
    await expect(page.getByText('Joined before')).toBeHidden({
      timeout: 2_000,
    });
  }).toPass();

  const tag = page.getByRole('row', { name: 'In provenpackager' });
  await tag.getByRole('button').click();
  await expect(page).not.toHaveURL(/group=/);
});

test('all people are listed in pages', async ({ portal, openTabAs }) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/people?all`);
  await expect(page.getByRole('heading', { name: 'All people' })).toBeVisible();
  const first = page.getByRole('article').first();
  const name = await first.textContent();

  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(first).not.toHaveText(name!);
  await expect(first).toBeInViewport();
  await page.goBack();
  await expect(first).toHaveText(name!);

  await page.getByRole('button', { name: 'Last page' }).click();
  await expect(page.getByRole('button', { name: 'Next page' })).toBeDisabled();
});
