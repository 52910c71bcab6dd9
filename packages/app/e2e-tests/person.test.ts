import { expect, test } from './test';
import { alice } from './Visitor';

test('a private profile shows others what is public, and its owner all of it', async ({
  portal,
  visit,
}) => {
  const stranger = await visit(alice);
  await stranger.goto(`${portal.url}/directory/people/bob`);
  await expect(
    stranger.getByText('bob keeps this profile private'),
  ).toBeVisible();
  await expect(stranger.getByText('bob@example.test')).toBeVisible();
  await expect(stranger.getByText('bob-gh')).toBeHidden();
  await expect(stranger.getByRole('tab', { name: /Keys/ })).toBeHidden();

  const owner = await visit({ ticket: 'bob' });
  await owner.goto(`${portal.url}/directory/people/bob`);
  await expect(owner.getByRole('link', { name: 'bob-gh' })).toBeVisible();
  await owner.getByText('What others see').click();
  await expect(owner.getByText('bob keeps this profile private')).toBeVisible();
  await expect(owner.getByText('bob-gh')).toBeHidden();
});

test('the user name and a key are copied', async ({ portal, visit }) => {
  const page = await visit(alice);
  await page.goto(`${portal.url}/directory/people/alice?tab=keys`);

  await page.getByRole('button', { name: 'Copy user name' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    'alice',
  );
  await page
    .getByRole('button', { name: 'Copy alice@laptop as a line' })
    .click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^ssh-ed25519 AAAA\S+ alice@laptop$/,
  );
});

test('an inherited group says why', async ({ portal, visit }) => {
  const page = await visit(alice);
  await page.goto(`${portal.url}/directory/people/dave`);

  await page
    .getByRole('button', { name: 'Why is Dave Certs in packager?' })
    .click();
  await expect(page.getByRole('dialog').getByRole('listitem')).toHaveText([
    'Dave Certs',
    'provenpackager',
    'packager',
  ]);
});

test.describe('when the directory goes away', () => {
  test.afterEach(({ portal }) => portal.realm.directory.start());

  test('what was loaded stays, with what failed and when it is tried again', async ({
    portal,
    visit,
  }) => {
    const page = await visit(alice);
    await page.clock.install();
    await page.goto(`${portal.url}/directory/people/alice`);
    const group = page.getByRole('link', { name: 'packager', exact: true });
    await expect(group).toBeVisible();

    await portal.realm.directory.stop();
    // The reader comes back to the tab after a minute.
    await page.clock.fastForward('01:00');
    await page.evaluate(() =>
      window.dispatchEvent(new Event('visibilitychange')),
    );
    const notice = page.getByText('The directory cannot be reached').first();
    await expect(notice).toBeVisible();
    await expect(
      page.getByText(/It is tried again by itself in/).first(),
    ).toBeVisible();
    await expect(group).toBeVisible();
    await expect(page.getByText('alice.liddell@example.com')).toBeVisible();

    await portal.realm.directory.start();
    await expect(async () => {
      await page.clock.fastForward('00:30');
      await expect(
        page.getByText('The directory cannot be reached'),
      ).toHaveCount(0, { timeout: 5_000 });
    }).toPass({ timeout: 90_000 });
    await expect(group).toBeVisible();
  });

  test('a page that was not loaded says why', async ({ portal, visit }) => {
    const page = await visit(alice);
    await page.goto(`${portal.url}/directory/people`);
    await expect(
      page.getByRole('heading', { name: 'People of your groups' }),
    ).toBeVisible();

    await portal.realm.directory.stop();
    await page.getByRole('article').first().click();
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    await expect(
      page.getByRole('link', { name: 'Groups', exact: true }),
    ).toBeVisible();
  });
});
