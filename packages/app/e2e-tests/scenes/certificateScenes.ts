import { expect, type Page } from '@playwright/test';
import { ensureCertificates } from '../certificates';
import { alice, type Caller } from '../test';
import type { Scene } from './Scene';

/** Owner of certificates in every state; see {@link ensureCertificates}. */
const holder = { ticket: 'mary-jane_w' };

/** A certificates page. */
function certificates(options: {
  readonly name: string;
  readonly path?: string;
  readonly caller?: Caller;
  readonly act?: (page: Page) => Promise<void>;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, path = '', caller = alice, act, shows } = options;
  return {
    name,
    caller,
    isInUrl: !act,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/certificates${path}`);
      await act?.(page);
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

/**
 * The page of one of the holder's certificates, or of all, a few weeks later.
 */
function held(options: {
  readonly name: string;
  readonly which?: keyof Awaited<ReturnType<typeof ensureCertificates>>;
  readonly act?: (page: Page) => Promise<void>;
}): Scene {
  const { name, which, act } = options;
  return {
    name,
    caller: holder,
    isInUrl: !act,
    async open({ page, portal }) {
      const all = `${portal.url}/directory/certificates`;
      await page.goto(all);
      const serials = await ensureCertificates(page, holder.ticket);
      const inWeeks = Date.now() + 25 * 24 * 60 * 60 * 1000;
      await page.clock.setFixedTime(inWeeks);
      await page.goto(which ? `${all}/${serials[which]}` : all);
      await act?.(page);
      const shown = page
        .getByText(which ? 'Chain of trust' : 'Expires soon')
        .first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

const heading = (name: string) => (page: Page) =>
  page.getByRole('heading', { name });

const next = (page: Page) =>
  page.getByRole('button', { name: 'Continue' }).click();

/** Reloads the page in a portal that can do only these operations. */
async function reloadWith(page: Page, operations: object) {
  await page.route('**/v1/me/operations/', route =>
    route.fulfill({
      json: {
        result: {
          operations: ['directory.read'],
          signs_for_others: false,
          certificate_authority: { can_revoke: true, can_hold: true },
          hidden_fields: [],
          ...operations,
        },
      },
    }),
  );
  await page.reload();
}

async function toCheck(page: Page) {
  await next(page);
  await next(page);
}

async function toDone(page: Page) {
  await toCheck(page);
  await page.getByRole('button', { name: 'Request certificate' }).click();
}

/** CSR of another user with a name that the policy rejects. */
const CSR = `-----BEGIN CERTIFICATE REQUEST-----
MIIBDDCBsgIBADAPMQ0wCwYDVQQDDARkYXZlMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE0rc+QKDraW5eN+1rEXwr/gqtPhnaAtW0RnFUc+/pQDbVR7xqN9N86hHq
bei5VWOA2RwWw+QyQT4Y2Inu7lOX86BBMD8GCSqGSIb3DQEJDjEyMDAwLgYDVR0R
BCcwJYERZGF2ZUBleGFtcGxlLnRlc3SCEHdlYi5leGFtcGxlLnRlc3QwCgYIKoZI
zj0EAwIDSQAwRgIhANyAhtcg2iR/rBWGuSSqARP6QGsqd2mdTwMGS+MisgH3AiEA
nsdPSUxT1Z0+iPGCoQWiRf6ECve4lRI3naiqed55fnw=
-----END CERTIFICATE REQUEST-----
`;

async function uploadCsr(page: Page) {
  await next(page);
  await page.getByText('Use my own CSR').click();
  await page
    .getByRole('textbox', { name: 'Certificate signing request (PEM)' })
    .fill(CSR);
  await expect(page.getByText('CN=dave')).toBeVisible();
}

/** The certificate and request pages in all states. */
export const certificateScenes: readonly Scene[] = [
  held({ name: 'certificates' }),
  certificates({
    name: 'certificates-none',
    caller: { ticket: 'minimal' },
    shows: heading('You have no certificates'),
  }),
  certificates({
    name: 'certificates-away',
    act: async page => {
      await page.route('**/certificates/?*', route =>
        route.fulfill({
          status: 503,
          headers: { 'Retry-After': '30' },
          json: {
            message: 'The directory is not available. Try again later.',
            request_id: '6d0c6a4e-3f2b-4f5c-9a55-0f3f6c1b7a10',
          },
        }),
      );
      await page.reload();
    },
    shows: page => page.getByRole('button', { name: 'Try again' }),
  }),
  held({ name: 'certificate-valid', which: 'valid' }),
  held({ name: 'certificate-revoked', which: 'revoked' }),
  held({
    name: 'certificate-not-revocable',
    which: 'valid',
    act: async page => {
      await reloadWith(page, {
        operations: ['directory.read', 'directory.certificate.sign'],
        certificate_authority: { can_revoke: false, can_hold: false },
      });
      await expect(page.getByText('cannot be revoked')).toBeVisible();
    },
  }),
  held({
    name: 'certificate-revoking',
    which: 'expiring',
    act: async page => {
      await page.getByRole('button', { name: 'Revoke' }).click();
      await page
        .getByText('The device or the key was lost, stolen or exposed')
        .click();
    },
  }),
  held({
    name: 'certificate-on-hold',
    which: 'valid',
    act: async page => {
      await page.route('**/v1/certs/*/', async route => {
        const response = await route.fetch();
        // As text: a JavaScript number would lose digits.
        const body = (await response.text())
          .replace(/"revoked": ?false/, '"revoked":true')
          .replace(/"revocation_reason": ?null/, '"revocation_reason":6');
        await route.fulfill({ response, body });
      });
      await page.reload();
      await expect(page.getByText('This certificate is on hold')).toBeVisible();
    },
  }),
  held({
    name: 'certificate-label',
    act: async page => {
      await page
        .getByRole('button', { name: /^Actions for/ })
        .first()
        .click();
      await page.getByRole('menuitem', { name: /label$/ }).click();
      await page.getByRole('textbox', { name: 'Label' }).fill('laptop');
    },
  }),
  certificates({
    name: 'request-profile',
    path: '/request',
    shows: heading('Choose a purpose'),
  }),
  certificates({
    name: 'request-not-allowed',
    path: '/request',
    act: page => reloadWith(page, {}),
    shows: heading('You are not allowed to request certificates'),
  }),
  certificates({
    name: 'certificates-no-ca',
    act: page => reloadWith(page, { certificate_authority: null }),
    shows: heading('This portal does not issue certificates'),
  }),
  certificates({
    name: 'request-key',
    path: '/request',
    act: next,
    shows: heading('Choose a key'),
  }),
  certificates({
    name: 'request-own',
    path: '/request',
    act: uploadCsr,
    shows: page => page.getByText('CN=dave'),
  }),
  certificates({
    name: 'request-check',
    path: '/request',
    act: toCheck,
    shows: page => page.getByText('All checks passed'),
  }),
  certificates({
    name: 'request-refused',
    path: '/request',
    act: async page => {
      await uploadCsr(page);
      await next(page);
    },
    shows: page => page.getByText(/so no certificate is issued/),
  }),
  certificates({
    name: 'request-done',
    path: '/request',
    act: toDone,
    shows: heading('Certificate issued'),
  }),
  certificates({
    name: 'request-unsaved',
    path: '/request',
    act: async page => {
      await toDone(page);
      await page.getByRole('link', { name: 'Certificate details' }).click();
    },
    shows: page => page.getByRole('link', { name: 'Save key' }),
  }),
  certificates({
    name: 'request-discarding',
    path: '/request',
    act: async page => {
      await toDone(page);
      await page.getByRole('button', { name: 'Discard key' }).click();
    },
    shows: page => page.getByText('Discard the private key?'),
  }),
];
