import { expect, type Page } from '@playwright/test';
import { issueCertificate } from './issueCertificate';
import { revokeInPage } from './revokeInPage';

/** Serial numbers, by how the certificates stand in some weeks. */
export interface HeldCertificates {
  readonly valid: string;
  readonly expiring: string;
  readonly revoked: string;
  readonly expired: string;
}

/** What somebody holds, per portal: its record lives as long as it does. */
const held = new Map<string, HeldCertificates>();

/**
 * Sees to it that the visitor of a page of the portal has certificates in every
 * state, once for all pictures.
 */
export async function holdCertificates(
  page: Page,
  username: string,
): Promise<HeldCertificates> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const { origin } = new URL(page.url());
  const key = `${username} ${origin}`;
  const known = held.get(key);
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
  await revokeInPage(page);
  held.set(key, certificates);
  return certificates;
}
