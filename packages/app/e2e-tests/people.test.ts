import { expect, test } from './test';
import { alice } from './Visitor';

test('one types, walks down, and opens, with the keyboard only', async ({
  portal,
  visit,
}) => {
  const page = await visit(alice);
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

test('what was typed over is not asked any more', async ({ portal, visit }) => {
  const page = await visit(alice);
  await page.goto(`${portal.url}/directory/people`);
  const asked: string[] = [];
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/search/users/')) {
      asked.push(searchParams.get('username') ?? '');
    }
  });

  await page.getByRole('searchbox').pressSequentially('al');
  await expect(page.getByText('Type at least three characters.')).toBeVisible();
  await page.getByRole('searchbox').pressSequentially('ice');
  await expect(
    page.getByRole('link', { name: 'Alice Liddell, alice' }),
  ).toBeVisible();

  expect(asked.filter(Boolean)).toEqual(['alice']);
});

test('a private profile is not found by what it hides', async ({
  portal,
  visit,
}) => {
  const hidden = `${portal.url}/directory/people?q=${encodeURIComponent(
    'github: bob-gh',
  )}`;
  const stranger = await visit(alice);
  await stranger.goto(hidden);
  await expect(stranger.getByText('Nobody found')).toBeVisible();

  const owner = await visit({ ticket: 'bob' });
  await owner.goto(hidden);
  await expect(owner.getByText('Bob Private')).toBeVisible();
});

test('filters narrow, stay in the URL, and are taken away', async ({
  portal,
  visit,
}) => {
  const page = await visit(alice);
  await page.goto(`${portal.url}/directory/people`);
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Group' }).fill('provenp');
  await page.getByRole('option', { name: /provenpackager/ }).click();

  await expect(page).toHaveURL(/group=provenpackager/);
  await expect(
    page.getByRole('heading', { name: 'People who match the filters' }),
  ).toBeVisible();
  // The first Escape is the combobox's own.
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

test('everybody is on pages', async ({ portal, visit }) => {
  const page = await visit(alice);
  await page.goto(`${portal.url}/directory/people?everybody`);
  await expect(page.getByRole('heading', { name: 'Everybody' })).toBeVisible();
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
