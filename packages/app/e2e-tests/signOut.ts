import { expect, type Page } from '@playwright/test';

/** Signs out where people do, on the settings page, and waits for the end. */
export async function signOut(page: Page): Promise<void> {
  await page.goto(new URL('/settings', page.url()).href);
  await page.getByTestId('user-settings-menu').click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(page.getByRole('main')).toContainText('You have signed out');
}
