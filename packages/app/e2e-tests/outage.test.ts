import { alice, expect, officer, test } from './test';

test.afterEach(({ portal }) => portal.startDirectory());

test('while the directory is unavailable, pages keep their data and input', async ({
  portal,
  openBrowserAs,
  openTabAs,
}) => {
  // A browser of its own, because its clock is changed.
  const person = await openBrowserAs(alice);
  await person.clock.install();
  await person.goto(`${portal.url}/directory/people/alice`);
  const membership = person.getByRole('link', {
    name: 'packager',
    exact: true,
  });
  await expect(membership).toBeVisible();

  const people = await openTabAs(alice);
  await people.goto(`${portal.url}/directory/people`);
  await expect(
    people.getByRole('heading', { name: 'People in your groups' }),
  ).toBeVisible();

  const group = await openTabAs(officer);
  await group.goto(`${portal.url}/directory/groups/contributors`);
  const members = group.getByRole('region', { name: 'Members' });
  await expect(members.getByRole('rowheader')).toHaveCount(24);

  const request = await openTabAs(alice);
  await request.goto(`${portal.url}/directory/certificates/request`);
  await request.getByRole('button', { name: 'Continue' }).click();
  await request.getByRole('button', { name: 'Continue' }).click();
  const sign = request.getByRole('button', { name: 'Request certificate' });
  await expect(sign).toBeEnabled();

  await portal.stopDirectory();

  await test.step('a certificate request fails', async () => {
    await sign.click();
    await expect(request.getByRole('alert')).toContainText(
      'The directory is unavailable',
    );
  });

  await test.step('loaded data stays with the error and the next retry', async () => {
    // The user returns to the tab after a minute.
    await person.clock.fastForward('01:00');
    await person.evaluate(() =>
      window.dispatchEvent(new Event('visibilitychange')),
    );
    await expect(
      person.getByText('The directory is unavailable').first(),
    ).toBeVisible();
    await expect(person.getByText(/Retrying in/).first()).toBeVisible();
    await expect(membership).toBeVisible();
    await expect(person.getByText('alice.liddell@example.com')).toBeVisible();
  });

  await test.step('a page that cannot be loaded shows a retry button', async () => {
    await people.getByRole('article').first().click();
    await expect(
      people.getByRole('button', { name: 'Try again' }),
    ).toBeVisible();
    await expect(
      people.getByRole('link', { name: 'Groups', exact: true }),
    ).toBeVisible();
  });

  await test.step('an export and a membership check fail and loaded members stay', async () => {
    await members.getByRole('button', { name: 'Export as CSV' }).click();
    await expect(
      members.getByText('The export was interrupted. Nothing was saved.'),
    ).toBeVisible();
    await group.getByRole('combobox', { name: 'Person' }).fill('dave');
    await expect(
      group.getByText('The directory is unavailable').first(),
    ).toBeVisible();
    await expect(members.getByRole('rowheader')).toHaveCount(24);
  });

  await portal.startDirectory();

  await test.step('the same certificate request succeeds', async () => {
    const issued = request.getByRole('heading', { name: 'Certificate issued' });
    await expect(async () => {
      if (!(await issued.isVisible())) {
        await sign.click({ timeout: 5_000 });
      }
      await expect(issued).toBeVisible({ timeout: 10_000 });
    }).toPass();
  });

  await test.step('the error disappears at the next retry', async () => {
    await expect(async () => {
      await person.clock.fastForward('00:30');
      await expect(
        person.getByText('The directory is unavailable'),
      ).toHaveCount(0, { timeout: 5_000 });
    }).toPass({ timeout: 90_000 });
    await expect(membership).toBeVisible();
  });
});
