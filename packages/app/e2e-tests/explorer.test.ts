import type { Page } from '@playwright/test';
import { expect, test } from './test';
import { alice } from './Visitor';

const EXPLORER = '/api/directory/docs/v1/';

/** Opens an operation, and makes it ready to be tried. */
async function open(page: Page, operation: string) {
  const block = page.locator(`#operations-${operation}`);
  await block.locator('.opblock-summary-control').click();
  await block.getByRole('button', { name: 'Try it out' }).click();
  return block;
}

test('shows the contract within what the portal allows', async ({
  portal,
  visit,
}) => {
  const page = await visit();
  const complaints: string[] = [];
  const asked = new Set<string>();
  page.on('console', message => {
    if (message.type() === 'error') {
      complaints.push(message.text());
    }
  });
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => asked.add(new URL(request.url()).origin));

  const response = await page.goto(`${portal.url}${EXPLORER}`);

  await expect(
    page.getByRole('heading', { name: /Directory gateway/ }),
  ).toBeVisible();
  await expect(page.locator('.opblock')).not.toHaveCount(0);
  expect(response!.headers()['content-security-policy']).toContain(
    "script-src 'self'",
  );
  expect(complaints).toEqual([]);
  expect([...asked].filter(origin => origin.startsWith('http'))).toEqual([
    portal.url,
  ]);
});

test('asks with a ticket, and says how curl does', async ({
  portal,
  visit,
}) => {
  const page = await visit(alice);
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

test('writes with a ticket, as a page of the portal may', async ({
  portal,
  visit,
}) => {
  const page = await visit(alice);
  await page.goto(`${portal.url}${EXPLORER}`);
  const sign = await open(page, 'certs-sign_csr');
  await sign
    .getByLabel('Request content type')
    .selectOption('application/json');
  await sign
    .locator('textarea')
    .fill(JSON.stringify({ user: 'alice', csr: 'no request' }));
  await sign.getByRole('button', { name: 'Execute' }).click();

  // Refused for what it is, not for where it comes from (that would be 403).
  const live = sign.locator('.live-responses-table');
  await expect(live.locator('.response-col_status').last()).toContainText(
    '400',
  );
  await expect(live).toContainText('"rule": "request"');
});

test('asks with a token of the portal', async ({ portal, visit }) => {
  const page = await visit();
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
