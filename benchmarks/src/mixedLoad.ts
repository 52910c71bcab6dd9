import { Attribute, Change, Client } from 'ldapts';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from './credentials';
import { percentile } from './interval';
import { send, type Sample } from './load';
import type { MeasuredPortal, RequestHeaders, Values } from './MeasuredPortal';
import { API, pick, rowsFor, type Names } from './rows';

interface MixedOptions {
  readonly portal: MeasuredPortal;
  readonly names: Names;
  readonly minutes: number;
}

/** With 50, the portal's CPU is fully used; `make trials` uses 4. */
const CLIENTS = Number(process.env.CLIENTS || 50);
/** Users who are changed, each every two seconds: 5 writes a second. */
const CHANGED_USERS = 10;
const WRITE_INTERVAL_MS = 2000;
const LOCKED_USERS = 20;
/** Users who are moved, as by `ipa user-del --preserve`. */
const PRESERVED_USERS = 10;
/** The replica reads the writes of the last 20 seconds again. */
const READ_AGAIN_MS = 20_000;
/** Part of the time in which accounts are locked and users are preserved. */
const STARTS_WITHIN = 0.6;
/** Maximum age of an account in the portal's cache. */
const CACHED_MS = 4000;
const POLL_MS = 10;
/** Longer than each promise: ends the measurement of a write. */
const TIMEOUT_MS = 120_000;

/**
 * Sends requests without a pause, so that the portal's CPU is fully used, and
 * measures writes meanwhile.
 */
export async function measureMixedLoad(options: MixedOptions): Promise<Values> {
  const { minutes } = options;
  const [samples, writes] = await Promise.all([
    sendRequests(options),
    measureWrites(options),
  ]);
  const latencies = samples.flatMap(sample => sample.latencies);
  const errors = samples.flatMap(sample => sample.errors);
  errors.slice(0, 3).forEach(error => process.stderr.write(`${error}\n`));
  return {
    'minutes under load': minutes,
    'requests/s': latencies.length / minutes / 60,
    'request (p50), ms': percentile(latencies, 50),
    'request (p99), ms': percentile(latencies, 99),
    errors: errors.length,
    ...writes,
  };
}

async function sendRequests(options: MixedOptions): Promise<readonly Sample[]> {
  const { portal, names, minutes } = options;
  const rows = rowsFor(names).flatMap(row =>
    Array.from({ length: row.share ?? 0 }, () => row),
  );
  const samples: Sample[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    // A session expires after 15 minutes.
    const sessions = await signIn(portal, names.callers.slice(0, CLIENTS));
    const sample = await send({
      origin: portal.origin,
      connections: CLIENTS,
      limit: { duration: 60 },
      next() {
        const { username, headers } = pick(sessions);
        return { ...pick(rows).request(username), headers };
      },
    });
    samples.push(sample);
  }
  return samples;
}

/**
 * Measures the times from the responses to writes until the portal shows their
 * effects: changes in the API and in the catalog, the refusal of an account that
 * was locked, and a search without a user who was preserved.
 */
async function measureWrites(options: MixedOptions): Promise<Values> {
  const { portal, names, minutes } = options;
  const { realm } = portal;
  const startsMs = STARTS_WITHIN * minutes * 60_000;
  const deadline = performance.now() + minutes * 60_000;
  // Portals on one realm have different entries.
  const prefix = `bench-${new URL(portal.origin).port}`;
  const group = `${prefix}-group`;
  const accounts = `cn=accounts,${realm.baseDn}`;
  const groupDn = `cn=${group},cn=groups,${accounts}`;
  const userDn = (uid: string) => `uid=${uid},cn=users,${accounts}`;
  const preservedDn = (uid: string) =>
    `uid=${uid},cn=deleted users,cn=accounts,cn=provisioning,${realm.baseDn}`;
  const client = new Client({ url: realm.ldapUrl });
  const password = readFileSync(realm.rootPasswordFile, 'utf8').trim();
  await client.bind(realm.rootDn, password);
  const visible: number[] = [];
  const entity: number[] = [];

  function modify(
    dn: string,
    operation: 'add' | 'delete' | 'replace',
    type: string,
    value: string,
  ): Promise<void> {
    const modification = new Attribute({ type, values: [value] });
    return client.modify(dn, new Change({ operation, modification }));
  }

  /** Returns the time until a response contains a text. */
  async function untilShown(
    path: string,
    text: string,
    headers?: RequestHeaders,
  ): Promise<number> {
    const writtenAt = performance.now();
    for (;;) {
      const response = await portal.get(path, headers);
      const milliseconds = performance.now() - writtenAt;
      if (response.text.includes(text) || milliseconds > TIMEOUT_MS) {
        return milliseconds;
      }
      if (response.status >= 500) {
        throw new Error(`${path} returned ${response.text}`);
      }
      await sleep(POLL_MS);
    }
  }

  async function changeUser(uid: string): Promise<void> {
    const dn = userDn(uid);
    const user = `${API}/users/${uid}/`;
    const renamed = `${uid}-renamed`;
    const renamedUser = `${API}/users/${renamed}/`;
    const membership = `${API}/groups/${group}/is-member/${uid}`;
    const steps: readonly [() => Promise<void>, string, string][] = [
      [() => client.add(dn, newUser(uid)), user, `"username":"${uid}"`],
      [() => modify(groupDn, 'add', 'member', dn), membership, 'true'],
      [() => modify(dn, 'replace', 'sn', 'Changed'), user, '"Changed"'],
      [() => modify(groupDn, 'delete', 'member', dn), membership, 'false'],
      [() => client.modifyDN(dn, userDn(renamed)), renamedUser, `"${renamed}"`],
      [() => client.del(userDn(renamed)), renamedUser, 'User not found'],
    ];
    const cycleMs = steps.length * WRITE_INTERVAL_MS;
    while (performance.now() + cycleMs < deadline) {
      for (const [write, path, text] of steps) {
        const due = performance.now() + WRITE_INTERVAL_MS;
        await write();
        visible.push(await untilShown(path, text));
        await sleep(Math.max(0, due - performance.now()));
      }
    }
  }

  async function changeEntity(uid: string): Promise<void> {
    const path = `/api/catalog/entities/by-name/user/default/${uid}`;
    await client.add(userDn(uid), newUser(uid));
    for (let count = 0; performance.now() < deadline; count++) {
      const mail = `${count}@example.test`;
      await modify(userDn(uid), 'replace', 'mail', mail);
      entity.push(await untilShown(path, `"${mail}"`));
      await sleep(WRITE_INTERVAL_MS);
    }
  }

  async function lockUser(uid: string): Promise<number> {
    await sleep(Math.random() * startsMs);
    // The portal caches the account.
    const [{ headers }] = await signIn(portal, [uid]);
    await sleep(Math.random() * CACHED_MS);
    await modify(userDn(uid), 'replace', 'nsAccountLock', 'TRUE');
    return untilShown(`${API}/me/`, '"account_locked"', headers);
  }

  async function preserveUser(uid: string): Promise<number> {
    const path = `${API}/search/users/?username__exact=${uid}`;
    await client.add(userDn(uid), newUser(uid));
    await untilShown(path, '"total_results":1');
    await sleep(READ_AGAIN_MS + Math.random() * (startsMs - READ_AGAIN_MS));
    await client.modifyDN(userDn(uid), preservedDn(uid));
    return untilShown(path, '"total_results":0');
  }

  const uids = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}-${kind}-${index}`);
  await client.add(groupDn, { objectClass: ['ipaUserGroup', 'fasGroup'] });
  const [refused, unlisted] = await Promise.all([
    Promise.all(names.callers.slice(-LOCKED_USERS).map(lockUser)),
    Promise.all(uids('preserved', PRESERVED_USERS).map(preserveUser)),
    Promise.all(uids('changed', CHANGED_USERS).map(changeUser)),
    changeEntity(`${prefix}-entity`),
  ]);
  await client.unbind();
  return {
    writes: visible.length,
    'write visible (p50), ms': percentile(visible, 50),
    'write visible (p99), ms': percentile(visible, 99),
    'write to entity (p95), ms': percentile(entity, 95),
    'locked account refused (max), ms': percentile(refused, 100),
    'preserved user not listed (max), ms': percentile(unlisted, 100),
  };
}

function newUser(uid: string) {
  return {
    objectClass: 'inetOrgPerson posixAccount krbPrincipalAux fasUser'.split(
      ' ',
    ),
    cn: uid,
    sn: 'New',
    uidNumber: '7',
    gidNumber: '7',
    homeDirectory: '/',
  };
}
