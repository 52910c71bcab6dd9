import { issueCertificate } from './certificates';
import { openPalette, paletteField } from './scenes/paletteScenes';
import { alice, expect, test } from './test';

test('the command palette finds by keyboard', async ({ portal, openTabAs }) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/groups`);
  const serial = await issueCertificate(page, { username: 'alice' });
  const open = async (text: string) => {
    await openPalette(page);
    await page.keyboard.insertText(text);
  };
  const option = (name: string | RegExp) =>
    page.getByRole('option', { name }).first();

  await test.step('a person, even if the name is misspelled', async () => {
    await open('Liddell, Alcie');
    await expect(option(/Alice Liddell/)).toBeVisible();
    await expect(
      page.getByRole('button', { name: 'Copy email address' }),
    ).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/directory\/people\/alice$/);
  });

  await test.step('a group', async () => {
    await open('provenpackager');
    await expect(option(/^provenpackager/)).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/directory\/groups\/provenpackager$/);
  });

  await test.step('a component', async () => {
    await open('gateway/kerberos');
    await expect(option(/^@directory-gateway.kerberos/)).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/component\/directory-gateway-kerberos$/);
  });

  await test.step('a certificate by its serial number', async () => {
    await open(serial);
    await expect(option(/CN=alice/)).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(
      `${portal.url}/directory/certificates/${serial}`,
    );
  });
});

test('the palette opens from the bar of a phone', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${portal.url}/directory/groups`);
  await page.getByRole('button', { name: 'Find' }).click();
  await expect(paletteField(page)).toBeFocused();
  await page.keyboard.type('alice');
  await page.getByRole('option', { name: /Alice Liddell/ }).click();
  await expect(page).toHaveURL(/\/directory\/people\/alice$/);

  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('menuitem', { name: 'Certificates' }).click();
  await expect(
    page.getByRole('heading', { level: 1, name: 'Certificates' }),
  ).toBeVisible();
});
