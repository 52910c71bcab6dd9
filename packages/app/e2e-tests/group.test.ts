import type { Realm } from '@directory-gateway/realm';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { alice, expect, officer, test } from './test';

/** Changes a user's full name in the directory. */
async function rename(realm: Realm, username: string, name: string) {
  const bind = ['-x', '-D', realm.rootDn, '-y', realm.rootPasswordFile];
  const ldapmodify = spawn('ldapmodify', [...bind, '-H', realm.ldapUrl], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  ldapmodify.stdin.end(
    [
      `dn: uid=${username},cn=users,cn=accounts,${realm.baseDn}`,
      'changetype: modify',
      'replace: displayName',
      `displayName: ${name}`,
      '',
    ].join('\n'),
  );
  const [code] = await once(ldapmodify, 'exit');
  expect(code).toBe(0);
}

test('the server pages, searches and filters a large group', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/groups/contributors`);
  const members = page.getByRole('region', { name: 'Members' });
  await expect(members.getByRole('rowheader')).toHaveCount(24);

  await members.getByRole('button', { name: 'Next page' }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(members.getByText(/^25 to 48 of \d+$/)).toBeVisible();

  await members.getByRole('searchbox').fill('alice');
  await expect(
    members.getByRole('rowheader', { name: /Alice Liddell/ }),
  ).toBeVisible();
  await expect(page).toHaveURL(/\?q=alice$/);

  await members.getByRole('radio', { name: 'Inherited' }).click();
  await expect(members.getByText('No members found')).toBeVisible();
});

test('a sponsor sorts the members and finds locked accounts', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/groups/packager`);
  const members = page.getByRole('region', { name: 'Members' });
  await members.getByRole('columnheader', { name: 'Membership' }).click();
  await expect(page).toHaveURL(/sort=direct$/);
  await members.getByRole('columnheader', { name: 'Membership' }).click();
  await expect(page).toHaveURL(/sort=-direct$/);
  const first = members.getByRole('row').nth(1);
  await expect(first).toContainText('Inherited');
  await first.getByRole('button', { name: /why/i }).click();
  await expect(
    page
      .getByRole('dialog')
      .getByRole('link', { name: 'packager', exact: true }),
  ).toBeVisible();
  await page.keyboard.press('Escape');

  await members.getByRole('radio', { name: 'Locked' }).click();
  await expect(members.getByRole('row', { name: /carol/ })).toContainText(
    'In the group, but locked: no access',
  );
  await page.getByRole('combobox', { name: 'Person' }).fill('carol');
  await page.getByRole('option', { name: /carol/i }).first().click();
  await expect(
    page.getByText(
      'carol is in the group, but the account is locked and has no access.',
    ),
  ).toBeVisible();
});

test('the history shows members who were added', async ({
  portal,
  realm,
  openTabAs,
}) => {
  const change = (operation: 'add' | 'delete') =>
    realm.modify(
      [
        `dn: cn=design,cn=groups,cn=accounts,${realm.baseDn}`,
        'changetype: modify',
        `${operation}: member`,
        `member: uid=x,cn=users,cn=accounts,${realm.baseDn}`,
        '',
      ].join('\n'),
    );
  const page = await openTabAs(officer);
  const history = page.getByRole('region', { name: 'History' });
  await change('add');
  try {
    await expect(async () => {
      await page.goto(`${portal.url}/directory/groups/design`);
      await expect(history.getByText('x was added').first()).toBeVisible();
    }).toPass();
  } finally {
    await change('delete');
  }
});

test('nested groups open level by level with the keyboard', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  await page.goto(`${portal.url}/directory/groups/packager`);
  await page
    .getByRole('button', { name: 'Show the groups in provenpackager' })
    .focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('link', { name: 'rel-eng' })).toBeVisible();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');

  await expect(page).toHaveURL(/\/directory\/groups\/rel-eng$/);
});

test.describe('CSV export', () => {
  test.afterEach(({ realm }) => rename(realm, 'alice', 'Alice Liddell'));

  test('contains all members and no formulas', async ({
    portal,
    realm,
    openTabAs,
  }) => {
    await rename(realm, 'alice', '=1+1');
    const page = await openTabAs(officer);
    await expect(async () => {
      await page.goto(`${portal.url}/directory/people/alice`);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('=1+1', {
        timeout: 5_000,
      });
    }).toPass();
    await page.goto(`${portal.url}/directory/groups/contributors`);
    const members = page.getByRole('region', { name: 'Members' });
    const total = await members.getByText(/^\d+ members$/).textContent();

    const downloading = page.waitForEvent('download');
    await members.getByRole('button', { name: 'Export as CSV' }).click();
    const download = await downloading;
    const file = await readFile(await download.path());

    expect(download.suggestedFilename()).toBe('contributors-members.csv');
    expect([...file.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const [names, ...rows] = file.subarray(3).toString().trim().split(/\r?\n/);
    expect(names).toBe(
      'username,human_name,emails,direct,path,sponsor,locked,timezone,joined',
    );
    expect(`${rows.length} members`).toBe(total);
    expect(rows.find(row => row.startsWith('alice,'))).toContain("'=1+1");
    expect(rows.join('\n')).not.toMatch(/(^|,)"?=/m);
    await expect(members.getByText('Exported.')).toBeVisible();
  });
});

test('the export is hidden from users who may not export', async ({
  portal,
  openTabAs,
}) => {
  const page = await openTabAs(alice);
  const operations = page.waitForResponse('**/v1/me/operations/');
  await page.goto(`${portal.url}/directory/groups/contributors`);
  const members = page.getByRole('region', { name: 'Members' });
  expect((await operations).status()).toBe(200);
  await expect(members.getByRole('rowheader')).toHaveCount(24);
  await expect(page.getByRole('button', { name: 'Export as CSV' })).toHaveCount(
    0,
  );
});
