import { expect, type Page } from '@playwright/test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCsr } from './openssl';

/**
 * Has a certificate signed for somebody by the browser with their ticket, whose
 * page is the portal's; the serial number.
 */
export async function issueCertificate(
  page: Page,
  options: {
    readonly username: string;
    /** Of `portal.yaml`. Default: the portal's default. */
    readonly profile?: 'userCerts' | 'mail' | 'moment';
  },
): Promise<string> {
  const { username, profile = 'userCerts' } = options;
  // Signed in: from then on the browser knows that the portal takes tickets.
  await expect(
    page.getByRole('link', { name: 'Certificates' }).first(),
  ).toBeVisible();
  const folder = await mkdtemp(join(tmpdir(), 'csr-'));
  const csr = await makeCsr({ name: username, keyFile: join(folder, 'key') });
  await rm(folder, { recursive: true });
  const answer = await post(page, '/certs/', { user: username, csr, profile });
  // As text: a number of JavaScript would lose digits.
  return /"serial_number": ?(\d+)/.exec(answer)![1];
}

/** Posts to the API as the visitor, with their ticket. */
async function post(
  page: Page,
  path: string,
  body: Record<string, string>,
): Promise<string> {
  return await page.evaluate(
    async ([url, form]) => {
      const answer = await fetch(url, {
        method: 'POST',
        body: new URLSearchParams(form),
      });
      if (!answer.ok) {
        throw new Error(await answer.text());
      }
      return await answer.text();
    },
    [`/api/directory/v1${path}`, body] as const,
  );
}
