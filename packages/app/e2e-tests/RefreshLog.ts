import type { Page, Response } from '@playwright/test';

/** The answers to a page's requests to sign in with a ticket. */
export class RefreshLog {
  readonly #responses: Response[] = [];

  constructor(page: Page) {
    page.on('response', response => {
      if (new URL(response.url()).pathname === '/api/auth/kerberos/refresh') {
        this.#responses.push(response);
      }
    });
  }

  /** Their statuses, in order. */
  statuses(): number[] {
    return this.#responses.map(response => response.status());
  }

  /** The newest answer. */
  last(): Response {
    const response = this.#responses.at(-1);
    if (!response) {
      throw new Error('Nobody has asked');
    }
    return response;
  }
}
