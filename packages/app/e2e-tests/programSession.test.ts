import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Portal } from './Portal';
import { alice, expect, test } from './test';

const run = promisify(execFile);

const ME = '/api/directory/v1/me/';

/** Returns the session cookie that an API client receives with a ticket. */
async function sessionOf(ticket: string, portal: Portal) {
  const { stdout } = await run(
    'curl',
    ['--silent', '--include', '--negotiate', '--user', ':', portal.url + ME],
    {
      env: {
        ...process.env,
        KRB5_CONFIG: portal.realm.krb5Config,
        KRB5CCNAME: await portal.realm.ticket(ticket),
      },
    },
  );
  const [, name, value] = /^Set-Cookie: ([^=]+)=([^;]+);/m.exec(stdout) ?? [];
  return { name, value };
}

test('a planted session cookie does not change the user', async ({
  portal,
  openBrowserAs,
}) => {
  const { name, value } = await sessionOf('bob', portal);
  expect(value).toBeTruthy();
  const other = await openBrowserAs();
  const user = await openBrowserAs(alice);
  // In a fresh profile, Chromium may ignore the first Negotiate challenge.
  await user.goto(portal.url + ME);
  await user.goto(portal.url + ME);
  await expect(user.locator('body')).toContainText('"username":"alice"');
  expect(await user.context().cookies(portal.url + ME)).toEqual([]);

  for (const page of [other, user]) {
    await page.goto(portal.url);
    await page.context().addCookies([
      {
        name,
        value,
        domain: 'localhost',
        path: '/api/directory',
        httpOnly: true,
        sameSite: 'Strict',
      },
    ]);
  }

  for (const [page, status, text] of [
    [other, 401, 'no_credentials'],
    [user, 200, '"username":"alice"'],
  ] as const) {
    const response = await page.goto(portal.url + ME);
    expect((await response?.request().allHeaders())?.cookie).toContain(value);
    expect(response?.status()).toBe(status);
    await expect(page.locator('body')).toContainText(text);
    expect(
      await page.evaluate(async path => (await fetch(path)).status, ME),
    ).toBe(status);
  }
});
