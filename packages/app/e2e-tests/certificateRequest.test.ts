import type { Page } from '@playwright/test';
import { execFile } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { makeCsr, openssl } from './openssl';
import { expect, test } from './test';
import { makeServerIdentity, shakeHands } from './shakeHands';
import { readStorage, recordSending } from './traces';
import { alice } from './Visitor';

const run = promisify(execFile);
const PASSPHRASE = 'correct horse "battery"';

/** Goes through the steps up to the verdict with a key of the browser's. */
async function requestUntilSigned(page: Page, portalUrl: string) {
  await page.goto(`${portalUrl}/directory/certificates`);
  await page
    .getByRole('link', { name: 'Request a certificate' })
    .first()
    .click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Whose key?' })).toBeFocused();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Sign it' }).click();
  await expect(
    page.getByRole('heading', { name: 'Here is your certificate' }),
  ).toBeVisible();
}

async function download(page: Page, button: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  return await file.path();
}

/** The private key in every form in which a program might write it down. */
function formsOf(pem: string): string[] {
  const key = createPrivateKey(pem);
  const { d } = key.export({ format: 'jwk' });
  const scalar = Buffer.from(d!, 'base64url');
  const pkcs8 = key.export({ format: 'der', type: 'pkcs8' });
  return [
    ...[d!, scalar.toString('base64'), scalar.toString('hex')],
    ...[scalar.toString('latin1'), scalar.join(',')],
    ...[pkcs8.toString('hex'), pkcs8.toString('latin1')],
    // What begins in it at other places of a base64 group.
    ...[1, 2].map(skip =>
      scalar.subarray(skip).toString('base64').slice(0, -4),
    ),
  ];
}

test('a key is made here, opens everywhere, and nothing of it is sent or stored', async ({
  portal,
  visit,
}, testInfo) => {
  const page = await visit(alice);
  const sent = recordSending(page);
  await requestUntilSigned(page, portal.url);

  const pemFile = await download(page, 'Download key and certificate');
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  const p12 = await download(page, 'Download PKCS#12');
  await expect(page.getByText(/handed to your downloads/)).toBeVisible();

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

  // Whoever trusts the portal's authority knows alice by either file.
  const authority = await openssl(...opened, '-cacerts', '-nokeys');
  const pfx = { pfx: await readFile(p12), passphrase: PASSPHRASE };
  for (const identity of [pfx, { key: pem, cert: pem }]) {
    expect(await shakeHands({ authority, identity })).toBe('alice');
  }
  const { cert: stranger } = await makeServerIdentity();
  expect(await shakeHands({ authority: stranger, identity: pfx })).toBe(
    'refused',
  );
});

test('a request that was made elsewhere is signed once every rule holds', async ({
  portal,
  visit,
}, testInfo) => {
  const requestFor = (name: string) =>
    makeCsr({ name, keyFile: testInfo.outputPath(`${name}.key`) });
  const page = await visit(alice);
  await page.goto(`${portal.url}/directory/certificates/request`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('I have a request (CSR)').click();
  const field = page.getByRole('textbox', { name: 'Certificate request, PEM' });
  const somebodyElses = await requestFor('dave');
  await field.fill(somebodyElses);
  await expect(page.getByText('CN=dave')).toBeVisible();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(
    page.getByText('The CN must be the user name, to the letter.'),
  ).toBeVisible();
  await expect(page.getByRole('button', { name: 'Sign it' })).toBeDisabled();

  await page.getByRole('button', { name: 'Back' }).click();
  await expect(field).toHaveValue(somebodyElses);
  await field.fill('');
  await drop(page, await requestFor('alice'));
  await expect(page.getByText('CN=alice')).toBeVisible();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Sign it' }).click();

  const certificate = await download(page, 'Download certificate');
  expect(
    await openssl('x509', '-in', certificate, '-noout', '-subject'),
  ).toMatch(/CN ?= ?alice/);
  const command = page.getByText(/^openssl pkcs12 -export/);
  await expect(command).toContainText('-inkey your.key');
  await expect(page.getByText(/^curl --cert/)).toContainText('--key your.key');
});

/** Drops a file of this text where a request is asked for. */
async function drop(page: Page, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(content => {
    const files = new DataTransfer();
    files.items.add(new File([content], 'alice.csr'));
    return files;
  }, text);
  await page
    .getByRole('textbox', { name: 'Certificate request, PEM' })
    .dispatchEvent('drop', { dataTransfer: transfer });
}

test('an unsaved key is not left behind by mistake', async ({
  portal,
  visit,
}) => {
  const page = await visit(alice);
  await requestUntilSigned(page, portal.url);

  await page.getByRole('link', { name: 'Groups', exact: true }).click();
  await page.getByRole('button', { name: 'Stay here' }).click();
  await page.goBack();
  await expect(page.getByText('Leave without the key?')).toBeVisible();
  await page.getByRole('button', { name: 'Forget the key and leave' }).click();
  await expect(
    page.getByRole('heading', { level: 1, name: 'Certificates' }),
  ).toBeVisible();
});

test('one gets a certificate with the keyboard only', async ({
  portal,
  visit,
}) => {
  const page = await visit(alice);
  await page.goto(`${portal.url}/directory/certificates/request`);
  const press = async (...keys: string[]) => {
    for (const key of keys) {
      await page.keyboard.press(key);
    }
  };
  await expect(
    page.getByRole('heading', { name: 'What is it for?' }),
  ).toBeFocused();
  await press('Tab', 'ArrowDown', 'Tab', 'Enter');
  await expect(page.getByRole('heading', { name: 'Whose key?' })).toBeFocused();
  await press('Tab', 'Tab', 'Tab', 'Tab', 'Enter');
  await expect(
    page.getByRole('heading', { name: 'May it be signed?' }),
  ).toBeFocused();
  await expect(page.getByRole('button', { name: 'Sign it' })).toBeEnabled();
  await press('Tab', 'Tab', 'Enter');
  await expect(
    page.getByRole('heading', { name: 'Here is your certificate' }),
  ).toBeFocused();
});

test.describe('when the directory goes away', () => {
  test.afterEach(({ portal }) => portal.realm.directory.start());

  test('a refusal to sign keeps everything, and the next try gets it', async ({
    portal,
    visit,
  }) => {
    const page = await visit(alice);
    await page.goto(`${portal.url}/directory/certificates/request`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    const sign = page.getByRole('button', { name: 'Sign it' });
    await expect(sign).toBeEnabled();

    await portal.realm.directory.stop();
    await sign.click();
    await expect(page.getByRole('alert')).toContainText(
      'The directory cannot be reached',
    );
    await portal.realm.directory.start();
    await expect(async () => {
      await sign.click();
      await expect(
        page.getByRole('heading', { name: 'Here is your certificate' }),
      ).toBeVisible({ timeout: 10_000 });
    }).toPass();
  });
});
