import { freePorts, startRealm, type Realm } from '@directory-gateway/realm';
import assert from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import {
  addFasGroup,
  addFasUser,
  eventually,
  groupDn,
  type Marker,
  plantMarkers,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { ldapOf } from '@directory-gateway/ldap/testUtils';
import {
  catalogEntities,
  catalogEntity,
  directoryNames,
  namesOf,
} from '../__testUtils__/catalog/catalogEntities';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const SERVICE_TOKEN = randomBytes(24).toString('base64url');
const NOT_UPDATED = 'Users and groups in the catalog are not updated';
const COMPARED = /Reconciled users and groups in the catalog.*/g;

let realm: Realm;
let folder: string;
/** Entities contain the URL of the portal. */
let port: number;
let gateway: Gateway;
let markers: readonly Marker[];

/** The comparisons in the log, without colors. */
const comparisons = () =>
  stripVTControlCharacters(gateway.log()).match(COMPARED) ?? [];

async function start() {
  gateway = await startGateway({
    realm,
    port,
    entry: 'catalogPortal',
    serviceToken: SERVICE_TOKEN,
    directory: {
      // Finds a lost right at the next access check.
      ldap: { ...ldapOf(realm), probeInterval: { seconds: 1 } },
      replica: { maxStaleness: '5s' },
    },
    catalog: {
      orphanProviderStrategy: 'keep',
      processingInterval: { minutes: 30 },
    },
    // The index is never updated at an interval.
    search: {
      collators: {
        catalog: {
          schedule: { frequency: { trigger: 'manual' }, timeout: '5m' },
        },
      },
    },
    backend: {
      database: {
        client: 'better-sqlite3',
        connection: { directory: folder },
      },
    },
  });
}

const entities = () => catalogEntities(gateway, SERVICE_TOKEN);

const found = async () => namesOf(await entities());

const entity = (kind: string, name: string) =>
  catalogEntity(gateway, SERVICE_TOKEN, kind, name);

async function fetchSearch(path: string, method = 'GET') {
  const response = await fetch(`${gateway.baseUrl}/api/search/${path}`, {
    method,
    headers: { Authorization: `Bearer ${SERVICE_TOKEN}` },
  });
  assert(response.ok, await response.clone().text());
  return response;
}

/** Returns the locations of the entities that the portal's search finds. */
async function search(term: string): Promise<readonly string[]> {
  const response = await fetchSearch(`query?term=${term}`);
  const { results } = (await response.json()) as {
    results: { document: { location: string } }[];
  };
  return results.map(({ document }) => document.location).sort();
}

async function changes(query: string) {
  const url = `${gateway.baseUrl}/api/directory/v1/changes/${query}`;
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${SERVICE_TOKEN}` },
  });
  assert(response.ok, await response.clone().text());
  return (await response.json()) as { cursor: string; result: object[] };
}

beforeAll(async () => {
  realm = await startRealm();
  markers = await plantMarkers(realm, ['bob']);
  [port] = await freePorts(1);
  folder = await mkdtemp(join(tmpdir(), 'catalog-'));
  await start();
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('catalog entities', () => {
  it('are not found by a hidden name or after a deletion in the search', async () => {
    const named = (uid: string, name: string) =>
      `dn: ${userDn(
        uid,
      )}\nchangetype: modify\nreplace: displayName\ndisplayName: ${name} Searched\n\n`;
    await realm.modify(
      ['stays', 'hides', 'leaves']
        .map(uid => addFasUser(uid) + named(uid, uid))
        .join(''),
    );
    // The catalog publishes entities one by one, in any order.
    for (const uid of ['stays', 'hides', 'leaves'])
      await eventually(async () =>
        expect(await entity('User', uid)).toMatchObject({
          metadata: { title: `${uid} Searched` },
        }),
      );
    await fetchSearch(
      '.backstage/scheduler/v1/tasks/search_index_software_catalog/trigger',
      'POST',
    );
    const locations = (...names: string[]) =>
      names.map(name => `/catalog/default/user/${name}`);
    await eventually(async () =>
      expect(await search('searched')).toEqual(
        locations('hides', 'leaves', 'stays'),
      ),
    );
    await realm.modify(
      `dn: ${userDn(
        'hides',
      )}\nchangetype: modify\nreplace: fasIsPrivate\nfasIsPrivate: TRUE\n\ndn: ${userDn(
        'leaves',
      )}\nchangetype: delete\n`,
    );
    await eventually(async () =>
      expect(await search('searched')).toEqual(locations('stays')),
    );
    expect(await search('leaves')).toEqual([]);
    expect(await search('hides')).toEqual(locations('hides'));
  });

  it('do not leak hidden values, and neither do the change feed, databases or log', async () => {
    const { cursor } = await changes('');
    const { text } = markers.find(({ field }) => field === 'human_name')!;
    await realm.modify(
      `dn: ${userDn(
        'bob',
      )}\nchangetype: modify\nreplace: displayName\ndisplayName: New ${text}\n`,
    );
    await realm.modify(addFasUser('later'));
    await eventually(async () => {
      const { result } = await changes(`?cursor=${cursor}`);
      expect(result).toEqual([
        expect.objectContaining({ kind: 'user_created', username: 'later' }),
      ]);
    });

    const files = await readdir(folder);
    const databases = files.filter(name => /\.sqlite(-wal)?$/.test(name));
    expect(databases.length).toBeGreaterThan(1);
    const texts = [
      JSON.stringify(await entities()),
      gateway.log(),
      ...(await Promise.all(
        databases.map(name => readFile(join(folder, name), 'latin1')),
      )),
    ];
    const shown = markers.filter(marker =>
      texts.some(each => each.includes(marker.text)),
    );
    expect(shown).toEqual([]);
  });

  it('follow the directory without comparing all entities', async () => {
    await eventually(() => expect(comparisons()).not.toEqual([]));
    await realm.modify(
      addFasUser('newcomer') + addFasGroup('newgroup', [userDn('newcomer')]),
    );
    await eventually(async () =>
      expect(await entity('User', 'newcomer')).toMatchObject({
        spec: { memberOf: ['newgroup'] },
      }),
    );
    await realm.modify(
      `dn: ${groupDn(
        'packager',
      )}\nchangetype: modify\nadd: member\nmember: ${groupDn('newgroup')}\n`,
    );
    await eventually(async () =>
      expect((await entity('Group', 'packager'))!.spec.children).toContain(
        'newgroup',
      ),
    );
    await realm.modify(`dn: ${userDn('newcomer')}\nchangetype: delete\n`);
    await eventually(async () =>
      expect(await entity('User', 'newcomer')).toBeUndefined(),
    );
    const all = await directoryNames(realm);
    await eventually(async () => expect(await found()).toEqual(all));
    // After ten minutes, entities are compared again, without a difference.
    for (const repeated of comparisons().slice(1)) {
      expect(repeated).toContain('written=0 ');
    }
  });

  it('are kept when the directory denies access, and not rewritten on restart', async () => {
    const before = await found();
    const setDenied = (operation: 'add' | 'delete') =>
      realm.modify(
        `dn: cn=accounts,${realm.baseDn}\nchangetype: modify\n${operation}: aci\naci: (targetattr = "*")(version 3.0; acl "hide all"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)\n`,
      );
    await setDenied('add');
    await eventually(() => expect(gateway.log()).toContain(NOT_UPDATED));
    expect(await found()).toEqual(before);
    await setDenied('delete');
    // The run of the stopped process must have ended; a new one starts at once.
    await gateway.stop();
    await realm.modify(addFasUser('meanwhile'));
    await start();
    await eventually(async () =>
      expect(await entity('User', 'meanwhile')).toBeDefined(),
    );
    await eventually(() => expect(comparisons()[0]).toMatch(/written=1 /));
  });
});
