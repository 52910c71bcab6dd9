import type { Page } from '@playwright/test';
import {
  createPrivateKey,
  createPublicKey,
  X509Certificate,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { openPalette } from './scenes/paletteScenes';
import { alice, expect, test } from './test';

const bar = (page: Page) =>
  page.getByRole('region', { name: 'Unsaved private keys' });
const sidebar = (page: Page, name: string) =>
  page
    .getByTestId('sidebar-root')
    .getByRole('link', { name, exact: true })
    .click();

/** Sends a request for a certificate with a generated key. */
async function sendRequest(page: Page): Promise<void> {
  await sidebar(page, 'Certificates');
  await page
    .getByRole('link', { name: 'Request a certificate' })
    .first()
    .click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Choose a key' }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Request certificate' }).click();
}

/** Issues a certificate and returns its serial number. */
async function issue(page: Page): Promise<string> {
  await sendRequest(page);
  const serial = page.getByRole('main').locator('code').first();
  await expect(
    page.getByRole('heading', { name: 'Certificate issued' }),
  ).toBeFocused();
  return (await serial.textContent())!;
}

/** Opens the page of the key by the bar, and saves the key. */
async function saveByBar(page: Page): Promise<X509Certificate> {
  await bar(page).getByRole('link', { name: 'Save key' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download key and certificate' }).click(),
  ]);
  const pem = await readFile(await file.path(), 'utf8');
  const certificate = new X509Certificate(pem);
  expect(
    createPublicKey(createPrivateKey(pem)).equals(certificate.publicKey),
  ).toBe(true);
  await expect(bar(page)).toBeHidden();
  return certificate;
}

/** Ways to leave the page of the key, and the URL of the next page. */
const exits: Record<
  string,
  { leave: (page: Page, serial: string) => Promise<void>; url: RegExp }
> = {
  'a person in the command palette': {
    async leave(page) {
      await (await openPalette(page)).fill('Liddell');
      const found = page.getByRole('option', { name: /Alice Liddell/ });
      await expect(found.first()).toBeVisible();
      await page.keyboard.press('Enter');
    },
    url: /\/directory\/people\/alice$/,
  },
  'a serial number in the command palette': {
    async leave(page, serial) {
      await (await openPalette(page)).fill(serial);
      const found = page.getByRole('option', { name: /CN=alice/ });
      await expect(found.first()).toBeVisible();
      await page.keyboard.press('Enter');
    },
    url: /\/directory\/certificates\/\d+$/,
  },
  'a serial number on the certificates page': {
    async leave(page, serial) {
      await sidebar(page, 'Certificates');
      const field = page.getByRole('textbox', { name: /serial number/ });
      await field.fill(serial);
      await field.press('Enter');
    },
    url: /\/directory\/certificates\/\d+$/,
  },
  'the search of the home page': {
    async leave(page) {
      await sidebar(page, 'Home');
      const search = page.getByRole('searchbox', {
        name: 'Search people and groups',
      });
      await expect(bar(page)).toBeVisible();
      await search.fill('dave');
      await search.press('Enter');
    },
    url: /\/directory\/people\?q=dave$/,
  },
  'the sidebar, to the catalog': {
    leave: page => sidebar(page, 'Catalog'),
    url: /\/catalog/,
  },
  'the sidebar, to the settings': {
    leave: page => sidebar(page, 'Settings'),
    url: /\/settings/,
  },
  'the search page': {
    async leave(page) {
      await sidebar(page, 'Catalog search');
      await expect(page).toHaveURL(/\/search/);
      await page.getByRole('textbox').first().fill('Liddell');
      await page.keyboard.press('Enter');
    },
    url: /\/search\?query=Liddell/,
  },
  'the Back button': {
    leave: async page => {
      await page.goBack();
    },
    // The step before the last one, for another request.
    url: /\/directory\/certificates\/request\?step=key$/,
  },
};

test('an unsaved key can be saved after leaving its page', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(portal.url);
  for (const [name, { leave, url }] of Object.entries(exits)) {
    await test.step(`by ${name}`, async () => {
      const serial = await issue(page);
      await leave(page, serial);
      await expect(page).toHaveURL(url);
      const { serialNumber } = await saveByBar(page);
      expect(String(BigInt(`0x${serialNumber}`))).toBe(serial);
    });
  }
});

test('a key receives the certificate that is issued after leaving the page', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(portal.url);
  let respond = () => {};
  const hasLeft = new Promise<void>(resolve => (respond = resolve));
  await page.route('**/api/directory/v1/certs/', async route => {
    if (!route.request().postData()?.includes('dry_run')) {
      await hasLeft;
    }
    await route.continue();
  });
  const sent = page.waitForRequest(
    request =>
      request.url().endsWith('/v1/certs/') &&
      !request.postData()?.includes('dry_run'),
  );
  await sendRequest(page);
  await sent;
  await sidebar(page, 'Groups');
  await expect(bar(page)).toBeHidden();
  respond();
  const { subject } = await saveByBar(page);
  expect(subject).toContain('CN=alice');
});

test('the browser asks before a reload and a sign-out, and a canceled reload keeps the key', async ({
  portal,
  openBrowserAs,
}) => {
  const page = await openBrowserAs(alice);
  await page.goto(portal.url);
  await issue(page);
  await sidebar(page, 'Settings');
  const dialogs: string[] = [];
  const answer = (method: 'accept' | 'dismiss') =>
    page.once('dialog', dialog => {
      dialogs.push(dialog.type());
      dialog[method]().catch(() => {}); // the page may be gone
    });
  answer('dismiss');
  await page.evaluate(() => setTimeout(() => window.location.reload()));
  await expect.poll(() => dialogs).toEqual(['beforeunload']);
  await expect(bar(page)).toBeVisible();

  answer('accept');
  await page.getByTestId('user-settings-menu').click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(page.getByRole('main')).toContainText('You have signed out');
  expect(dialogs).toEqual(['beforeunload', 'beforeunload']);
});
