import { expect, type Page } from '@playwright/test';
import { holdCertificates } from '../holdCertificates';
import { alice, type Visitor } from '../Visitor';
import type { Scene } from './Scene';

/** Has a certificate of every state, see {@link holdCertificates}. */
const holder = { ticket: 'mary-jane_w' };

/** A page of certificates, once something has appeared. */
function certificates(options: {
  readonly name: string;
  readonly path?: string;
  readonly visitor?: Visitor;
  readonly act?: (page: Page) => Promise<void>;
  readonly shows: (page: Page) => ReturnType<Page['locator']>;
}): Scene {
  const { name, path = '', visitor = alice, act, shows } = options;
  return {
    name,
    visitor,
    async open({ page, portal }) {
      await page.goto(`${portal.url}/directory/certificates${path}`);
      await act?.(page);
      const shown = shows(page).first();
      await expect(shown).toBeVisible();
      return shown;
    },
  };
}

/** One of the holder's certificates, or all of them, weeks later. */
function held(options: {
  readonly name: string;
  readonly which?: keyof Awaited<ReturnType<typeof holdCertificates>>;
  readonly act?: (page: Page) => Promise<void>;
}): Scene {
  const { name, which, act } = options;
  return {
    name,
    visitor: holder,
    async open({ page, portal }) {
      const all = `${portal.url}/directory/certificates`;
      await page.goto(all);
      const serials = await holdCertificates(page, holder.ticket);
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

async function toCheck(page: Page) {
  await next(page);
  await next(page);
}

async function toDone(page: Page) {
  await toCheck(page);
  await page.getByRole('button', { name: 'Sign it' }).click();
}

/** Made with OpenSSL for somebody else, with a name that is never signed. */
const CSR = `-----BEGIN CERTIFICATE REQUEST-----
MIIBDDCBsgIBADAPMQ0wCwYDVQQDDARkYXZlMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE0rc+QKDraW5eN+1rEXwr/gqtPhnaAtW0RnFUc+/pQDbVR7xqN9N86hHq
bei5VWOA2RwWw+QyQT4Y2Inu7lOX86BBMD8GCSqGSIb3DQEJDjEyMDAwLgYDVR0R
BCcwJYERZGF2ZUBleGFtcGxlLnRlc3SCEHdlYi5leGFtcGxlLnRlc3QwCgYIKoZI
zj0EAwIDSQAwRgIhANyAhtcg2iR/rBWGuSSqARP6QGsqd2mdTwMGS+MisgH3AiEA
nsdPSUxT1Z0+iPGCoQWiRf6ECve4lRI3naiqed55fnw=
-----END CERTIFICATE REQUEST-----
`;

async function toOwnRequest(page: Page) {
  await next(page);
  await page.getByText('I have a request (CSR)').click();
  await page
    .getByRole('textbox', { name: 'Certificate request, PEM' })
    .fill(CSR);
  await expect(page.getByText('CN=dave')).toBeVisible();
}

/** Certificates and the way to one, in all states. */
export const certificateScenes: readonly Scene[] = [
  held({ name: 'certificates' }),
  certificates({
    name: 'certificates-none',
    visitor: { ticket: 'minimal' },
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
    name: 'certificate-revoking',
    which: 'expiring',
    act: async page => {
      await page.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('Somebody else has its key, or may have').click();
    },
  }),
  certificates({
    name: 'request-profile',
    path: '/request',
    shows: heading('What is it for?'),
  }),
  certificates({
    name: 'request-not-allowed',
    act: async page => {
      await page.route('**/v1/me/operations/', route =>
        route.fulfill({
          json: {
            result: { operations: ['directory.read'], signs_for_others: false },
          },
        }),
      );
      await page.goto(
        `${new URL(page.url()).origin}/directory/certificates/request`,
      );
    },
    shows: heading('You may not request certificates'),
  }),
  certificates({
    name: 'request-key',
    path: '/request',
    act: next,
    shows: heading('Whose key?'),
  }),
  certificates({
    name: 'request-own',
    path: '/request',
    act: toOwnRequest,
    shows: page => page.getByText('CN=dave'),
  }),
  certificates({
    name: 'request-check',
    path: '/request',
    act: toCheck,
    shows: page => page.getByText('Nothing has been signed yet.'),
  }),
  certificates({
    name: 'request-refused',
    path: '/request',
    act: async page => {
      await toOwnRequest(page);
      await next(page);
    },
    shows: page => page.getByText(/so nothing is signed/),
  }),
  certificates({
    name: 'request-done',
    path: '/request',
    act: toDone,
    shows: heading('Here is your certificate'),
  }),
  certificates({
    name: 'request-leaving',
    path: '/request',
    act: async page => {
      await toDone(page);
      await page.getByRole('link', { name: 'Details' }).click();
    },
    shows: page => page.getByText('Leave without the key?'),
  }),
];
