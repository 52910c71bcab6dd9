import type { Page } from '@playwright/test';
import { execFile } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createCsr, issueCertificate, openssl } from './certificates';
import { alice, expect, test } from './test';
import { makeServerIdentity, tlsHandshake } from './tlsHandshake';
import { readStorage, recordTraffic } from './traces';

const run = promisify(execFile);
const PASSPHRASE = 'correct horse "battery"';

/** Completes all steps of a request with a generated key. */
async function requestCertificate(page: Page, portalUrl: string) {
  await page.goto(`${portalUrl}/directory/certificates`);
  await page
    .getByRole('link', { name: 'Request a certificate' })
    .first()
    .click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(
    page.getByRole('heading', { name: 'Choose a key' }),
  ).toBeFocused();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Request certificate' }).click();
  await expect(
    page.getByRole('heading', { name: 'Certificate issued' }),
  ).toBeVisible();
}

async function download(page: Page, button: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  return await file.path();
}

/** Returns the private key in all encodings in which it could leak. */
function formsOf(pem: string): string[] {
  const key = createPrivateKey(pem);
  const { d } = key.export({ format: 'jwk' });
  const scalar = Buffer.from(d!, 'base64url');
  const pkcs8 = key.export({ format: 'der', type: 'pkcs8' });
  return [
    ...[d!, scalar.toString('base64'), scalar.toString('hex')],
    ...[scalar.toString('latin1'), scalar.join(',')],
    ...[pkcs8.toString('hex'), pkcs8.toString('latin1')],
    // The same bytes at other offsets within a base64 group.
    ...[1, 2].map(skip =>
      scalar.subarray(skip).toString('base64').slice(0, -4),
    ),
  ];
}

test('a generated key works in TLS clients and is neither sent nor stored', async ({
  portal,
  openTabAs,
}, testInfo) => {
  const page = await openTabAs(alice);
  const sent = recordTraffic(page);
  await requestCertificate(page, portal.url);

  const pemFile = await download(page, 'Download key and certificate');
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  const p12 = await download(page, 'Download PKCS#12');
  await expect(page.getByText(/private key was downloaded/)).toBeVisible();

  const pem = await readFile(pemFile, 'utf8');
  const seen = [...sent, await readStorage(page), portal.log()].join('\n');
  expect(seen).toContain('CERTIFICATE REQUEST');
  expect(seen).not.toContain('CryptoKey');
  for (const form of [...formsOf(pem), PASSPHRASE]) {
    expect(seen).not.toContain(form);
    expect(seen).not.toContain(encodeURIComponent(form));
  }

  const opened = ['pkcs12', '-in', p12, '-passin', `pass:${PASSPHRASE}`];
  expect(await openssl(...opened, '-nocerts', '-noenc')).toContain(
    /-----BEGIN PRIVATE KEY-----[^]+?-----END PRIVATE KEY-----/.exec(pem)![0],
  );
  const store = ['-d', `sql:${testInfo.outputPath()}`];
  await run('certutil', ['-N', ...store, '--empty-password']);
  await run('pk12util', ['-i', p12, ...store, '-W', PASSPHRASE]);
  const { stdout: held } = await run('certutil', ['-L', ...store]);
  expect(held).toMatch(/^alice +u,u,u$/m);

  // Servers that trust the portal's CA authenticate alice with either file.
  const authority = await openssl(...opened, '-cacerts', '-nokeys');
  const pfx = { pfx: await readFile(p12), passphrase: PASSPHRASE };
  for (const identity of [pfx, { key: pem, cert: pem }]) {
    expect(await tlsHandshake({ authority, identity })).toBe('alice');
  }
  const { cert: otherCa } = await makeServerIdentity();
  expect(await tlsHandshake({ authority: otherCa, identity: pfx })).toBe(
    'refused',
  );
});

test('an uploaded CSR is signed when all checks pass', async ({
  portal,
  openTabAs,
}, testInfo) => {
  const requestFor = (name: string) =>
    createCsr({ name, keyFile: testInfo.outputPath(`${name}.key`) });
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/certificates/request`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Use my own CSR').click();
  const field = page.getByRole('textbox', {
    name: 'Certificate signing request (PEM)',
  });
  const otherCsr = await requestFor('dave');
  await field.fill(otherCsr);
  await expect(page.getByText('CN=dave')).toBeVisible();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(
    page.getByText('The subject must have exactly one CN: the username'),
  ).toBeVisible();
  await expect(
    page.getByRole('button', { name: 'Request certificate' }),
  ).toBeDisabled();

  await page.goBack();
  await expect(field).toHaveValue(otherCsr);
  await field.fill('');
  await drop(page, await requestFor('alice'));
  await expect(page.getByText('CN=alice')).toBeVisible();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Request certificate' }).click();

  const certificate = await download(page, 'Download certificate');
  expect(
    await openssl('x509', '-in', certificate, '-noout', '-subject'),
  ).toMatch(/CN ?= ?alice/);
  const command = page.getByText(/^openssl pkcs12 -export/);
  await expect(command).toContainText('-inkey your.key');
  await expect(page.getByText(/^curl --cert/)).toContainText('--key your.key');
});

/** Drops a file with a CSR on the text field. */
async function drop(page: Page, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(content => {
    const files = new DataTransfer();
    files.items.add(new File([content], 'alice.csr'));
    return files;
  }, text);
  await page
    .getByRole('textbox', { name: 'Certificate signing request (PEM)' })
    .dispatchEvent('drop', { dataTransfer: transfer });
}

test('a renewal keeps profile and label and offers to revoke the old certificate', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  const certificates = `${portal.url}/directory/certificates`;
  await page.goto(certificates);
  const serial = await issueCertificate(page, {
    username: 'alice',
    profile: 'mail',
  });
  await page.goto(`${certificates}/${serial}`);
  await page.getByRole('button', { name: 'Set label' }).click();
  await page.getByRole('textbox', { name: 'Label' }).fill('mail program');
  await page.getByRole('button', { name: 'Save label' }).click();
  await expect(
    page.getByRole('heading', { level: 1, name: /^mail program ·/ }),
  ).toBeVisible();

  const renewal = page.waitForResponse(`**/certs/${serial}/renewal/`);
  await page.getByRole('link', { name: 'Renew' }).click();
  await page.getByRole('button', { name: 'Back' }).click();
  await expect(
    page.getByRole('radio', { name: 'Signed or encrypted email' }),
  ).toBeChecked();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Request certificate' }).click();
  expect((await renewal).status()).toBe(200);
  const old = page.getByRole('region', { name: 'Old certificate' });
  await old.getByRole('button', { name: 'Revoke certificate' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: 'Revoke certificate' })
    .click();
  await expect(old.getByText('Revoked')).toBeVisible();
  await download(page, 'Download key and certificate');

  await page.goto(certificates);
  const labeled = page
    .getByRole('listitem')
    .filter({ hasText: 'mail program' });
  await expect(labeled.filter({ hasText: /Valid(?! from)/ })).toHaveCount(1);
  await expect(labeled.filter({ hasText: 'Revoked' })).toHaveCount(1);
});

test('a certificate can be requested with the keyboard only', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/certificates/request`);
  const press = async (...keys: string[]) => {
    for (const key of keys) {
      await page.keyboard.press(key);
    }
  };
  await expect(
    page.getByRole('heading', { name: 'Choose a purpose' }),
  ).toBeFocused();
  await press('Tab', 'ArrowDown', 'Tab', 'Enter');
  await expect(
    page.getByRole('heading', { name: 'Choose a key' }),
  ).toBeFocused();
  await press('Tab', 'Tab', 'Tab', 'Tab', 'Enter');
  await expect(
    page.getByRole('heading', { name: 'Review the request' }),
  ).toBeFocused();
  await expect(
    page.getByRole('button', { name: 'Request certificate' }),
  ).toBeEnabled();
  await press('Tab', 'Tab', 'Tab', 'Enter');
  await expect(
    page.getByRole('heading', { name: 'Certificate issued' }),
  ).toBeFocused();
});

test('the request page says what the CA cannot do', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  const path = `${portal.url}/directory/certificates`;
  await page.goto(`${path}/request`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  // The portal does not put certificates of locked accounts on hold.
  await expect(
    page.getByText('stays valid until it is revoked or expires'),
  ).toBeVisible();

  await page.route('**/v1/me/operations/', async route => {
    const response = await route.fetch();
    const { result } = await response.json();
    await route.fulfill({
      json: {
        result: {
          ...result,
          operations: ['directory.read'],
          certificate_authority: null,
        },
      },
    });
  });
  const notice = page.getByRole('heading', {
    name: 'This portal does not issue certificates',
  });
  for (const url of [path, `${path}/request`]) {
    await page.goto(url);
    await expect(notice).toBeVisible();
  }
});
