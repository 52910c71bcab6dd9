import { expect, type Page } from '@playwright/test';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs OpenSSL and returns its output. */
export async function openssl(...args: string[]): Promise<string> {
  const { stdout, stderr } = await run('openssl', args);
  return stdout + stderr;
}

/** Writes a new key to a file and returns its CSR. */
export async function createCsr(options: {
  readonly name: string;
  readonly keyFile: string;
}): Promise<string> {
  const { name, keyFile } = options;
  const { stdout } = await run('openssl', [
    ...['req', '-new', '-newkey', 'ec', '-pkeyopt'],
    ...['ec_paramgen_curve:P-256', '-noenc', '-subj', `/CN=${name}`],
    ...['-keyout', keyFile],
  ]);
  return stdout;
}

/**
 * Requests a certificate through the API from a portal page, with the ticket of
 * the browser. Returns the serial number.
 */
export async function issueCertificate(
  page: Page,
  options: {
    readonly username: string;
    /** A profile in `portal.yaml`. Default: the portal's default profile. */
    readonly profile?: 'userCerts' | 'mail' | 'moment';
  },
): Promise<string> {
  const { username, profile = 'userCerts' } = options;
  // The browser sends tickets automatically only after sign-in.
  await expect(
    page.getByRole('link', { name: 'Certificates' }).first(),
  ).toBeVisible();
  const folder = await mkdtemp(join(tmpdir(), 'csr-'));
  const csr = await createCsr({ name: username, keyFile: join(folder, 'key') });
  await rm(folder, { recursive: true });
  const response = await page.evaluate(
    async form => {
      const result = await fetch('/api/directory/v1/certs/', {
        method: 'POST',
        body: new URLSearchParams(form),
      });
      const text = await result.text();
      if (!result.ok) {
        throw new Error(text);
      }
      return text;
    },
    { user: username, csr, profile },
  );
  // As text: a JavaScript number would lose digits.
  return /"serial_number": ?(\d+)/.exec(response)![1];
}

/** Revokes the certificate that the page shows. */
export async function revokeCertificate(page: Page): Promise<void> {
  const name = 'Revoke certificate';
  await page.getByRole('button', { name }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It is no longer needed').click();
  await dialog.getByRole('button', { name }).click();
  await expect(page.getByText('This certificate is revoked')).toBeVisible();
}

/** Serial numbers by the state of the certificates a few weeks later. */
export interface TestCertificates {
  readonly valid: string;
  readonly expiring: string;
  readonly revoked: string;
  readonly expired: string;
}

/** Issued certificates by user and portal. */
const issued = new Map<string, TestCertificates>();

/** Issues one certificate in each state to a user, once per portal. */
export async function ensureCertificates(
  page: Page,
  username: string,
): Promise<TestCertificates> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const { origin } = new URL(page.url());
  const key = `${username} ${origin}`;
  const known = issued.get(key);
  if (known) {
    return known;
  }
  const issue = (profile: 'mail' | 'userCerts' | 'moment') =>
    issueCertificate(page, { username, profile });
  const certificates = {
    expired: await issue('moment'),
    revoked: await issue('mail'),
    expiring: await issue('userCerts'),
    valid: await issue('mail'),
  };
  await page.goto(`${origin}/directory/certificates/${certificates.revoked}`);
  await revokeCertificate(page);
  issued.set(key, certificates);
  return certificates;
}
