import { startRealm, type Realm } from '@directory-gateway/realm';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { ldapOf } from '@directory-gateway/ldap/testUtils';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const serviceToken = 'a-token-of-a-service-of-the-site';

const SERVED = [200, 200, 200, 200];

let realm: Realm;
let gateway: Gateway;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    serviceToken,
    directory: {
      ldap: { ...ldapOf(realm), probeInterval: '1s' },
      // Ensures that only a suspension stops reads.
      replica: { maxStaleness: '1h' },
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

/** Status codes of one read of each kind, one after the other. */
async function read(): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const path of [
    'users/alice/',
    'users/?page_size=10',
    'groups/packager/members/',
    'search/users/?username=ali',
  ]) {
    const { status } = await fetch(
      `${gateway.baseUrl}/api/directory/v1/${path}`,
      { headers: { authorization: `Bearer ${serviceToken}` } },
    );
    statuses.push(status);
  }
  return statuses;
}

/** Waits for the suspension, and expects that no read succeeds from then on. */
async function expectSuspended(message: RegExp, title: string): Promise<void> {
  await eventually(() => expect(gateway.log()).toMatch(message));
  const ready = await fetch(`${gateway.baseUrl}/api/directory/healthz/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 503, title: `Reads are suspended: ${title}` },
  ]);
  for (let round = 0; round < 25; round++) {
    expect(await read()).toEqual([503, 503, 503, 503]);
  }
}

it('suspends reads when the service account is disabled', async () => {
  const setLock = (lock: string) =>
    realm.modify(
      `dn: ${realm.bindDn}\nchangetype: modify\nreplace: nsAccountLock\n${lock}`,
    );
  expect(await read()).toEqual(SERVED);
  // The open connections stay bound.
  await setLock('nsAccountLock: TRUE\n');
  try {
    await expectSuspended(
      /Reads are suspended: .*refused the service account/,
      'credentials refused',
    );
  } finally {
    await setLock('');
  }
  await eventually(async () => expect(await read()).toEqual(SERVED));
});

it('suspends reads when the access check fails', async () => {
  expect(await read()).toEqual(SERVED);
  const changeRules = (operation: string) =>
    realm.modify(
      `dn: cn=accounts,${realm.baseDn}\nchangetype: modify\n${operation}: aci\naci: (targetattr = "fasIsPrivate")(version 3.0; acl "hide the flag"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)\n`,
    );
  await changeRules('add');
  try {
    await expectSuspended(
      /Reads are suspended: .*fasIsPrivate/,
      'access check failed',
    );
  } finally {
    await changeRules('delete');
  }
  await eventually(async () => expect(await read()).toEqual(SERVED));
});
