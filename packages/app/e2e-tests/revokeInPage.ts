import { expect, type Page } from '@playwright/test';

/** Revokes the certificate whose details are on the page, as a person does. */
export async function revokeInPage(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It is no longer needed').click();
  await dialog.getByRole('button', { name: 'Revoke for good' }).click();
  await expect(page.getByText('This certificate is revoked')).toBeVisible();
}
