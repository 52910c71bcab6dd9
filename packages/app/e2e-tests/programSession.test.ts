import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Portal } from './Portal';
import { expect, test } from './test';
import { alice } from './Visitor';

const run = promisify(execFile);

const ME = '/api/directory/v1/me/';

/** The session that a program of somebody's is given. */
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

test('a session planted in a browser makes its user nobody else', async ({
  portal,
  visit,
}) => {
  const { name, value } = await sessionOf('bob', portal);
  expect(value).toBeTruthy();
  const stranger = await visit();
  const user = await visit(alice);
  // A fresh profile's first challenge fails.
  await user.goto(portal.url + ME);
  await user.goto(portal.url + ME);
  await expect(user.locator('body')).toContainText('"username":"alice"');
  expect(await user.context().cookies(portal.url + ME)).toEqual([]);

  for (const page of [stranger, user]) {
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
    [stranger, 401, 'no_credentials'],
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
