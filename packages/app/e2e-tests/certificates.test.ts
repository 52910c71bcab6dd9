import { issueCertificate, revokeCertificate } from './certificates';
import { alice, expect, officer, test } from './test';

test('certificates show expiry and revocation', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(officer);
  const certificates = `${portal.url}/directory/certificates`;
  await page.goto(certificates);
  await expect(page.getByText('You have no certificates')).toBeVisible();
  const username = 'john.doe';
  const kept = await issueCertificate(page, { username, profile: 'mail' });
  const revoked = await issueCertificate(page, { username });
  const brief = await issueCertificate(page, { username, profile: 'moment' });

  await page.goto(`${certificates}/${revoked}`);
  await revokeCertificate(page);
  await expect(
    page.getByText(/^Revoked .+ Reason: no longer in use/),
  ).toBeVisible();
  await expect(page.getByRole('button', { name: 'Revoke' })).toHaveCount(0);

  await page.getByRole('link', { name: 'Certificates' }).last().click();
  const rowOf = (serial: string) =>
    page.getByRole('listitem').filter({
      has: page.getByRole('button', { name: `Copy serial number ${serial}` }),
    });
  await expect(rowOf(revoked)).toContainText('Reason: no longer in use');
  await expect(rowOf(kept)).toContainText(/Valid(?! from)/);
  await expect(rowOf(kept)).toContainText('Signed or encrypted email');

  await rowOf(kept).getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Set label' }).click();
  await page.getByRole('textbox', { name: 'Label' }).fill('old laptop');
  await page.keyboard.press('Enter');
  await expect(rowOf(kept)).toContainText('old laptop');
  await expect(async () => {
    await page.reload();
    await expect(rowOf(brief)).toContainText('Expired', { timeout: 5_000 });
  }).toPass();
});

test('a long serial number stays exact on all pages', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  const certificates = `${portal.url}/directory/certificates`;
  await page.goto(certificates);
  const serial = await issueCertificate(page, { username: 'alice' });
  expect(BigInt(serial)).toBeGreaterThan(2n ** 64n);
  await page.reload();
  await page
    .getByRole('button', {
      name: new RegExp(`^Actions for .*${serial.slice(-6)}\\)$`),
    })
    .click();
  await page.getByRole('menuitem', { name: 'Details' }).click();
  await expect(page).toHaveURL(`${certificates}/${serial}`);
  const about = page.getByRole('region', { name: 'About this certificate' });
  await expect(about.getByText(serial, { exact: true })).toBeVisible();
  await about
    .getByRole('button', { name: `Copy serial number ${serial}` })
    .click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(serial);

  // In OpenSSL format, with the keyboard.
  const octets = BigInt(serial)
    .toString(16)
    .replace(/^(.)((..)*)$/, '0$1$2');
  await page.goto(certificates);
  await page.getByRole('textbox', { name: /serial number/ }).focus();
  await page.keyboard.type(octets.match(/../g)!.join(':'));
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${certificates}/${serial}`);
  await expect(about.getByText(serial, { exact: true })).toBeVisible();
});

test('an external certificate is shown with its exact serial number', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs({ ticket: 'dave' });
  const certificates = `${portal.url}/directory/certificates`;
  const serial = String(2n ** 126n + 15n); // from the people of the realm
  await page.goto(`${certificates}/0x${BigInt(serial).toString(16)}`);
  const about = page.getByRole('region', { name: 'About this certificate' });
  await expect(about.getByText(serial, { exact: true })).toBeVisible();
  await expect(about.getByText('External')).toBeVisible();

  const other = String(2n ** 128n - 3n); // random, as in FreeIPA
  const request = page.waitForRequest('**/v1/certs/**');
  await page.goto(`${certificates}/${other}`);
  await expect(
    page.getByRole('heading', { name: `Certificate ${other} not found` }),
  ).toBeVisible();
  expect((await request).url()).toMatch(new RegExp(`/v1/certs/${other}/$`));
});

test('owners revoke their certificates, other users may not', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/certificates`);
  const serial = await issueCertificate(page, { username: 'alice' });
  const certificate = `${portal.url}/directory/certificates/${serial}`;

  const other = await openTabAs({ ticket: 'dave' });
  const operations = other.waitForResponse('**/v1/me/operations/');
  await other.goto(certificate);
  await operations;
  await expect(other.getByText('Valid', { exact: true })).toBeVisible();
  await expect(other.getByRole('button', { name: 'Revoke' })).toHaveCount(0);

  await page.goto(certificate);
  await revokeCertificate(page);
});

test('a revocation long after sign-in renews the session with the ticket', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.clock.install();
  await page.goto(`${portal.url}/directory/certificates`);
  const serial = await issueCertificate(page, { username: 'alice' });
  await page.goto(`${portal.url}/directory/certificates/${serial}`);
  await expect(page.getByRole('button', { name: 'Revoke' })).toBeVisible();
  const tokens: string[] = [];
  await page.route('**/revocation/', route => {
    tokens.push(route.request().headers().authorization);
    return tokens.length > 1
      ? route.continue()
      : route.fulfill({
          status: 403,
          json: {
            message: 'Sign in again',
            reason: 'recent_sign_in_required',
            request_id: 'test',
          },
        });
  });
  await page.clock.fastForward('01:30');

  await revokeCertificate(page);
  expect(new Set(tokens).size).toBe(2);
});
