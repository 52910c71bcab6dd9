import type { Realm } from '@directory-gateway/realm';
import { Attribute, Change, Client } from 'ldapts';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential } from './Credentials';
import { percentile } from './interval';
import type { MixedOptions } from './mixedLoad';
import type { Values } from './tables';

/** A response that shows a write. */
interface Check {
  readonly path: string;
  readonly status: 200 | 401 | 404;
  /** Text that the response contains. */
  readonly text: string;
  /** Default: those of the guest. */
  readonly headers?: Credential['headers'];
}

/** Users who are changed, each every two seconds: 5 writes a second. */
const CHANGED_USERS = 10;
const WRITE_INTERVAL_MS = 2000;
/** Users who are moved, as by `ipa user-del --preserve`. */
const PRESERVED_USERS = 10;
/** The replica reads the writes of the last 20 seconds again. */
const READ_AGAIN_MS = 20_000;
/** Part of the time in which accounts are locked and users are preserved. */
const STARTS_WITHIN = 0.6;
/** Maximum age of an account in the portal's cache. */
const CACHED_MS = 4000;
const POLL_MS = 10;
/** Longer than each promise. */
const TIMEOUT_MS = 120_000;
const API = '/api/directory/v1';

/**
 * Measures the times from the responses to writes until the portal shows their
 * effects: changes in the API and in the catalog, the refusal of an account that
 * was locked, and a search without a user who was preserved.
 */
export async function measureWrites(options: MixedOptions): Promise<Values> {
  const { realm, portal, credentials, lockedUsers, minutes, signal } = options;
  const startsMs = STARTS_WITHIN * minutes * 60_000;
  const deadline = performance.now() + minutes * 60_000;
  // Portals on one realm write to different entries.
  const prefix = `bench-${new URL(portal.origin).port}`;
  const group = `${prefix}-group`;
  const accounts = `cn=accounts,${realm.baseDn}`;
  const groupDn = `cn=${group},cn=groups,${accounts}`;
  const userDn = (uid: string) => `uid=${uid},cn=users,${accounts}`;
  const preservedDn = (uid: string) =>
    `uid=${uid},cn=deleted users,${accounts.replace(',', ',cn=provisioning,')}`;
  const client = await connectAsAdministrator(realm);
  const visible: number[] = [];
  const entity: number[] = [];

  const pause = (minimumMs: number, maximumMs: number) => {
    const range = Math.max(0, maximumMs - minimumMs);
    const milliseconds = minimumMs + Math.random() * range;
    return sleep(milliseconds, undefined, { signal });
  };

  /** Returns the time until a response shows a write that was just made. */
  async function untilShown(check: Check): Promise<number> {
    const writtenAt = performance.now();
    for (;;) {
      const { status, text } = await portal.get(check.path, check.headers);
      const milliseconds = performance.now() - writtenAt;
      const isShown = status === check.status && text.includes(check.text);
      if (isShown || milliseconds > TIMEOUT_MS) {
        return milliseconds;
      }
      if (status >= 500) {
        throw new Error(`${check.path} returned ${status}: ${text}`);
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  async function changeUser(uid: string): Promise<void> {
    const dn = userDn(uid);
    const renamed = `${uid}-renamed`;
    const name = `${uid} Changed`;
    const user = (username: string, text: string): Check => ({
      path: `${API}/users/${username}/`,
      status: 200,
      text,
    });
    const isMember = (result: boolean): Check => ({
      path: `${API}/groups/${group}/is-member/${uid}`,
      status: 200,
      text: `{"result":${result}}`,
    });
    const entityCheck: Check = {
      path: `/api/catalog/entities/by-name/user/default/${uid}`,
      status: 200,
      text: `"displayName":"${name}"`,
    };
    const steps: readonly [() => Promise<unknown>, Check, Check?][] = [
      [() => client.add(dn, newUser(uid)), user(uid, `"username":"${uid}"`)],
      [
        () => client.modify(groupDn, change('add', 'member', dn)),
        isMember(true),
      ],
      [
        () => client.modify(dn, change('replace', 'displayName', name)),
        user(uid, `"human_name":"${name}"`),
        entityCheck,
      ],
      [
        () => client.modify(groupDn, change('delete', 'member', dn)),
        isMember(false),
      ],
      [
        () => client.modifyDN(dn, userDn(renamed)),
        user(renamed, `"username":"${renamed}"`),
      ],
      [
        () => client.del(userDn(renamed)),
        { ...user(renamed, '"message":"User not found"'), status: 404 },
      ],
    ];
    const cycleMs = steps.length * WRITE_INTERVAL_MS;
    while (performance.now() + cycleMs < deadline) {
      for (const [write, check, nextCheck] of steps) {
        const due = performance.now() + WRITE_INTERVAL_MS;
        await write();
        await Promise.all([
          untilShown(check).then(ms => visible.push(ms)),
          nextCheck && untilShown(nextCheck).then(ms => entity.push(ms)),
        ]);
        await pause(Math.max(0, due - performance.now()), 0);
      }
    }
  }

  async function lockUser(uid: string): Promise<number> {
    await pause(0, startsMs);
    // The portal caches the account.
    const [{ headers }] = await credentials.signIn([uid]);
    await pause(0, CACHED_MS);
    await client.modify(
      userDn(uid),
      change('replace', 'nsAccountLock', 'TRUE'),
    );
    const text = '"reason":"account_locked"';
    return untilShown({ path: `${API}/me/`, status: 401, text, headers });
  }

  async function preserveUser(uid: string): Promise<number> {
    await client.add(userDn(uid), newUser(uid));
    await pause(READ_AGAIN_MS, startsMs);
    const path = `${API}/search/users/?username__exact=${uid}`;
    const { text } = await portal.get(path);
    if (!text.includes('"total_results":1')) {
      throw new Error(`${path} does not find the user: ${text}`);
    }
    await client.modifyDN(userDn(uid), preservedDn(uid));
    return untilShown({ path, status: 200, text: '"total_results":0' });
  }

  const uids = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}-${kind}-${index}`);
  try {
    await client.add(groupDn, { objectClass: ['ipaUserGroup', 'fasGroup'] });
    const [refused, unlisted] = await Promise.all([
      Promise.all(lockedUsers.map(lockUser)),
      Promise.all(uids('preserved', PRESERVED_USERS).map(preserveUser)),
      Promise.all(uids('changed', CHANGED_USERS).map(changeUser)),
    ]);
    return {
      writes: visible.length,
      'write visible (p50), ms': percentile(visible, 50),
      'write visible (p99), ms': percentile(visible, 99),
      'write to entity (p95), ms': percentile(entity, 95),
      'locked account refused (max), ms': percentile(refused, 100),
      'preserved user not listed (max), ms': percentile(unlisted, 100),
    };
  } finally {
    await client.unbind();
  }
}

async function connectAsAdministrator(realm: Realm): Promise<Client> {
  const client = new Client({ url: realm.ldapUrl });
  const password = readFileSync(realm.rootPasswordFile, 'utf8').trim();
  await client.bind(realm.rootDn, password);
  return client;
}

function newUser(uid: string) {
  return {
    objectClass: [
      'inetOrgPerson',
      'posixAccount',
      'krbPrincipalAux',
      'fasUser',
    ],
    cn: uid,
    sn: 'Written',
    givenName: uid,
    displayName: uid,
    uidNumber: '7',
    gidNumber: '7',
    homeDirectory: '/',
  };
}

function change(
  operation: 'add' | 'delete' | 'replace',
  type: string,
  value: string,
): Change {
  const modification = new Attribute({ type, values: [value] });
  return new Change({ operation, modification });
}
