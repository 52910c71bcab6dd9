import type { Page } from '@playwright/test';
import { alice, expect, test } from './test';

const EXPLORER = '/api/directory/docs/v1/';

/** Opens an operation with its request form. */
async function open(page: Page, operation: string) {
  const block = page.locator(`#operations-${operation}`);
  await block.locator('.opblock-summary-control').click();
  await block.getByRole('button', { name: 'Try it out' }).click();
  return block;
}

test('shows the API with a content security policy', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs({});
  const errors: string[] = [];
  const origins = new Set<string>();
  page.on('console', message => {
    if (message.type() === 'error') {
      errors.push(message.text());
    }
  });
  page.on('pageerror', error => errors.push(error.message));
  page.on('request', request => origins.add(new URL(request.url()).origin));

  const response = await page.goto(`${portal.url}${EXPLORER}`);

  await expect(
    page.getByRole('heading', { name: /Directory gateway/ }),
  ).toBeVisible();
  await expect(page.locator('.opblock')).not.toHaveCount(0);
  expect(response!.headers()['content-security-policy']).toContain(
    "script-src 'self'",
  );
  expect(errors).toEqual([]);
  expect([...origins].filter(origin => origin.startsWith('http'))).toEqual([
    portal.url,
  ]);
});

test('sends requests with a ticket and shows the curl command', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}${EXPLORER}`);
  const whoami = await open(page, 'me-whoami');
  await whoami.getByRole('button', { name: 'Execute' }).click();

  const live = whoami.locator('.live-responses-table');
  await expect(live.locator('.response-col_status').last()).toContainText(
    '200',
  );
  await expect(live).toContainText('"username": "alice"');
  await expect(whoami.locator('.curl').last()).toContainText(
    'curl --negotiate -u : -X',
  );
});

test('sends POST requests with a ticket', async ({ portal, openTabAs }) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}${EXPLORER}`);
  const sign = await open(page, 'certs-sign_csr');
  await sign
    .getByLabel('Request content type')
    .selectOption('application/json');
  await sign
    .locator('textarea')
    .fill(JSON.stringify({ user: 'alice', csr: 'no request' }));
  await sign.getByRole('button', { name: 'Execute' }).click();

  // Rejected because of its content, not its origin (which would be 403).
  const live = sign.locator('.live-responses-table');
  await expect(live.locator('.response-col_status').last()).toContainText(
    '400',
  );
  await expect(live).toContainText('"rule": "request"');
});

test('sends requests with a portal token', async ({ portal, openTabAs }) => {
  const page = await openTabAs({});
  await page.goto(`${portal.url}${EXPLORER}`);
  const token = await page.evaluate(async () => {
    const response = await fetch('/api/auth/guest/refresh', {
      headers: { 'X-Requested-With': 'XMLHttpRequest' },
    });
    return (await response.json()).backstageIdentity.token as string;
  });
  await page.getByRole('button', { name: 'Authorize' }).click();
  const dialog = page.locator('.modal-ux');
  await expect(dialog).not.toContainText('negotiate');
  await dialog.getByRole('textbox').fill(token);
  await dialog.getByRole('button', { name: /apply credentials/i }).click();
  await page.locator('.close-modal').click();

  const group = await open(page, 'groups-get_group');
  await group.getByPlaceholder('groupname').fill('packager');
  await group.getByRole('button', { name: 'Execute' }).click();
  await expect(group.locator('.live-responses-table')).toContainText(
    '"groupname": "packager"',
  );
  await expect(group.locator('.curl').last()).not.toContainText('--negotiate');
});
