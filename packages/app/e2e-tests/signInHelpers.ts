import { expect, type Page, type Response } from '@playwright/test';

/** Records the responses to a page's sign-in requests with a ticket. */
export class RefreshLog {
  readonly #responses: Response[] = [];

  constructor(page: Page) {
    page.on('response', response => {
      if (new URL(response.url()).pathname === '/api/auth/kerberos/refresh') {
        this.#responses.push(response);
      }
    });
  }

  /** Statuses of the responses, in order. */
  statuses(): number[] {
    return this.#responses.map(response => response.status());
  }

  /** The last response. */
  last(): Response {
    const response = this.#responses.at(-1);
    if (!response) {
      throw new Error('No sign-in request was sent');
    }
    return response;
  }
}

/** Signs out on the settings page and waits until the sign-out is complete. */
export async function signOut(page: Page): Promise<void> {
  await page.goto(new URL('/settings', page.url()).href);
  await page.getByTestId('user-settings-menu').click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(page.getByRole('main')).toContainText('You have signed out');
}
