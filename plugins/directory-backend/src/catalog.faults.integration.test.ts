import { stringifyEntityRef } from '@backstage/catalog-model';
import {
  freePorts,
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify, stripVTControlCharacters } from 'node:util';
import {
  catalogEntities,
  directoryNames,
  namesOf,
  type CatalogEntity,
} from './__testUtils__/catalog/catalogEntities';
import {
  addFasGroup,
  addFasUser,
} from './__testUtils__/conformance/changeArbitrary';
import { groupDn, userDn } from './__testUtils__/conformance/entries';
import { eventually } from './__testUtils__/eventually';
import {
  startGateway,
  type Gateway,
} from './__testUtils__/gateway/startGateway';
import { dumpEntries } from './__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from './__testUtils__/naive/NaiveDirectory';

/** Repetitions of each fault. */
const FAULTS = Number(process.env.FAULTS || 1);

jest.setTimeout(600_000 + FAULTS * 300_000);

const SERVICE_TOKEN = randomBytes(24).toString('base64url');
const CATALOG = 'backstage_plugin_catalog';
const BACKUP = 'catalog_backup';
/** Longest time from a change until the portal is killed. */
const SETTLE_MS = 5000;

const run = promisify(execFile);

let realm: Realm;
let postgres: PostgresServer;
let folder: string;
/** Entities contain the URL of the portal. */
let port: number;
let gateway: Gateway;
/** Milliseconds from the start of the portal until the catalog is complete. */
let ingestionMs: number;
/** The catalog after the first ingestion. */
let kept: readonly CatalogEntity[];
let arrivals = 0;

const databaseFolder = () =>
  join(realm.dir, 'instance/var/lib/dirsrv/slapd-realm/db');

async function start(
  options: Pick<
    Parameters<typeof startGateway>[0],
    'entry' | 'until' | 'catalog'
  > = {},
): Promise<void> {
  const { host, user } = postgres.connection('postgres');
  gateway = await startGateway({
    realm,
    port,
    entry:
      'plugins/directory-backend/src/__testUtils__/catalog/catalogPortal.ts',
    until: 'started',
    serviceToken: SERVICE_TOKEN,
    directory: {
      changes: { keys: [{ secretFile: join(folder, 'key') }] },
      replica: { maxStaleness: '5s' },
    },
    backend: { database: { client: 'pg', connection: { host, user } } },
    ...options,
    catalog: {
      orphanProviderStrategy: 'keep',
      processingInterval: '30m',
      ...options.catalog,
    },
  });
}

/** Starts the portal after the run of the previous one has expired. */
async function startAgain(
  options?: Parameters<typeof start>[0],
): Promise<void> {
  const knex = postgres.connect(CATALOG);
  try {
    await knex('backstage_backend_tasks__tasks')
      .whereNotNull('current_run_expires_at')
      .update({ current_run_expires_at: new Date(0) });
  } finally {
    await knex.destroy();
  }
  await start(options);
}

const entities = () => catalogEntities(gateway, SERVICE_TOKEN);

/** Entities by reference and ID, without what a test changes in groups. */
function contentOf(all: readonly CatalogEntity[]) {
  return all
    .map(({ metadata, ...entity }) => {
      const { description: _, etag: _etag, annotations, ...rest } = metadata;
      const { 'directory-gateway/digest': digest, ...others } = annotations;
      expect(digest).toBeDefined();
      return { ...entity, metadata: { ...rest, annotations: others } };
    })
    .sort((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1));
}

async function expectKept(): Promise<void> {
  const all = await entities();
  expect(namesOf(all)).toEqual(namesOf(kept));
  expect(contentOf(all)).toEqual(contentOf(kept));
}

/** Expects that the catalog follows the directory and has kept its entities. */
async function expectRecovered(): Promise<void> {
  const name = `arrival-${arrivals++}`;
  const isFound = async () =>
    (await entities()).some(({ metadata }) => metadata.name === name);
  await eventually(() => realm.modify(addFasUser(name)));
  await eventually(async () => expect(await isFound()).toBe(true));
  await realm.modify(`dn: ${userDn(name)}\nchangetype: delete\n`);
  await eventually(async () => expect(await isFound()).toBe(false));
  await expectKept();
  expect(namesOf(await entities())).toEqual(await directoryNames(realm));
}

/** A fault of the directory, and its end. */
interface Fault {
  cause(): Promise<void>;
  recover(): Promise<void>;
}

/** Copies the directory, for the recovery of an emptied one. */
async function backUpDirectory(): Promise<void> {
  const copy = join(folder, 'db');
  await realm.directory.stop();
  await rm(copy, { recursive: true, force: true });
  await run('cp', ['-a', databaseFolder(), copy]);
  await realm.directory.start();
}

const setDenied = (operation: 'add' | 'delete') =>
  realm.modify(
    `dn: cn=accounts,${realm.baseDn}\nchangetype: modify\n${operation}: aci\naci: (targetattr = "*")(version 3.0; acl "hide all"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)\n`,
  );

const faults: Readonly<Record<string, Fault>> = {
  'denies access': {
    cause: () => setDenied('add'),
    recover: () => setDenied('delete'),
  },
  'is unreachable': {
    cause: () => realm.directory.kill(),
    recover: () => realm.directory.start(),
  },
  // Restores an older state of the server, which the change log notices at a start.
  'is emptied': {
    async cause() {
      const containers = ['users', 'groups'].map(
        name => `cn=${name},cn=accounts,${realm.baseDn}`,
      );
      const deleted = (await dumpEntries(realm)).filter(entry =>
        containers.some(container => entry.isIn(container)),
      );
      await realm.modify(
        deleted.map(({ dn }) => `dn: ${dn}\nchangetype: delete\n`).join('\n'),
      );
    },
    async recover() {
      await realm.directory.stop();
      await rm(databaseFolder(), { recursive: true });
      await run('cp', ['-a', join(folder, 'db'), databaseFolder()]);
      await realm.directory.start();
    },
  },
};

/** Replaces a database by a copy of another one. */
async function replaceDatabase(name: string, source: string): Promise<void> {
  const knex = postgres.connect('postgres');
  try {
    await knex.raw('drop database if exists ??', [name]);
    await knex.raw('create database ?? template ??', [name, source]);
  } finally {
    await knex.destroy();
  }
}

/** Waits until the catalog does not follow the directory. */
async function untilFailing(offset = 0): Promise<void> {
  await eventually(() =>
    expect(stripVTControlCharacters(gateway.log()).slice(offset)).toContain(
      'Users and groups of the catalog are not updated',
    ),
  );
}

/** Waits until the catalog has all entities and their relations. */
async function untilIngested(): Promise<void> {
  const names = await directoryNames(realm);
  await eventually(async () => {
    kept = await entities();
    expect(namesOf(kept)).toEqual(names);
    const refs = new Set(
      kept.map(({ kind, metadata: { name } }) =>
        stringifyEntityRef({ kind, name }),
      ),
    );
    for (const { spec, relations = [] } of kept) {
      const groups = relations.filter(({ type }) => type === 'memberOf');
      expect(groups).toHaveLength(spec.memberOf?.length ?? 0);
      const unknown = relations.filter(({ targetRef }) => !refs.has(targetRef));
      expect(unknown).toEqual([]);
    }
  });
}

beforeAll(async () => {
  [realm, postgres] = await Promise.all([startRealm(), PostgresServer.start()]);
  [port] = await freePorts(1);
  folder = await mkdtemp(join(tmpdir(), 'catalog-'));
  await writeFile(join(folder, 'key'), randomBytes(32).toString('base64'), {
    mode: 0o600,
  });
  await backUpDirectory();
  const startedAt = performance.now();
  await start();
  await untilIngested();
  ingestionMs = performance.now() - startedAt;
});

afterAll(async () => {
  await gateway?.stop();
  await postgres?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the entities of the catalog', () => {
  it(`are kept when the portal starts without its directory, ${FAULTS} times`, async () => {
    for (let round = 0; round < FAULTS; round++) {
      const all = Object.values(faults);
      const { cause, recover } = all[round % all.length];
      await gateway.stop();
      await cause();
      await startAgain();
      await untilFailing();
      await expectKept();
      await recover();
      await expectRecovered();
      expect(gateway.alive()).toBe(true);
    }
  });

  it(`are kept when the portal is killed during its sync, ${FAULTS} times`, async () => {
    for (let round = 0; round < FAULTS; round++) {
      const description = `round ${round} ${arrivals}`;
      const { groups } = new NaiveDirectory(await dumpEntries(realm), 'fas');
      await realm.modify(
        groups
          .map(
            ({ dn }) =>
              `dn: ${dn}\nchangetype: modify\nreplace: description\ndescription: ${description}\n`,
          )
          .join('\n'),
      );
      await sleep(randomInt(SETTLE_MS));
      await gateway.kill();
      await startAgain({ until: 'listening' });
      await sleep(randomInt(Math.ceil(ingestionMs)));
      await gateway.kill();
      await startAgain();
      await eventually(async () => {
        const outdated = (await entities()).filter(
          ({ kind, metadata }) =>
            kind === 'Group' && metadata.description !== description,
        );
        expect(outdated).toEqual([]);
      });
      await expectRecovered();
    }
  });

  it('are shown again when the portal was killed before it stitched one', async () => {
    const [{ metadata }] = kept;
    const digest = metadata.annotations['directory-gateway/digest'];
    await gateway.stop();
    const knex = postgres.connect(CATALOG);
    try {
      // Shows the entity as before it was processed.
      await knex('final_entities')
        .where({ entity_id: metadata.uid })
        .update({
          final_entity: knex.raw('replace(final_entity, ?, ?)', [
            digest,
            'before',
          ]),
        });
    } finally {
      await knex.destroy();
    }
    await startAgain();
    await eventually(async () => {
      const shown = (await entities()).find(
        entity => entity.metadata.uid === metadata.uid,
      );
      expect(shown?.metadata.annotations['directory-gateway/digest']).toMatch(
        new RegExp(`^${digest}\\.\\d+$`),
      );
    });
    await expectRecovered();
  });

  it('are kept when the portal starts once without the module', async () => {
    const file = join(folder, 'component.yaml');
    const component = {
      apiVersion: 'backstage.io/v1alpha1',
      kind: 'Component',
      metadata: { name: 'website' },
      spec: { type: 'website', lifecycle: 'production', owner: 'unknown' },
    };
    await writeFile(file, JSON.stringify(component));
    await gateway.stop();
    await startAgain({
      entry: 'plugins/directory-backend/dev/index.ts',
      catalog: { locations: [{ type: 'file', target: file }] },
    });
    // The catalog processes entities, and has removed those without a provider.
    await eventually(async () => {
      const response = await fetch(
        `${gateway.baseUrl}/api/catalog/entities/by-name/component/default/website`,
        { headers: { Authorization: `Bearer ${SERVICE_TOKEN}` } },
      );
      expect(response.status).toBe(200);
    });
    await expectKept();
    await gateway.stop();
    await startAgain();
    await expectRecovered();
  });

  it('are those of the directory after the database was restored from an older backup', async () => {
    await gateway.stop();
    await replaceDatabase(BACKUP, CATALOG);
    await startAgain();
    await realm.modify(
      addFasUser('later') +
        addFasGroup('later-group', [userDn('later')]) +
        [userDn('bob'), groupDn('rel-eng')]
          .map(dn => `dn: ${dn}\nchangetype: delete\n\n`)
          .join(''),
    );
    const names = await directoryNames(realm);
    const untilEqual = () =>
      eventually(async () => expect(namesOf(await entities())).toEqual(names));
    await untilEqual();
    await gateway.stop();
    await replaceDatabase(CATALOG, BACKUP);
    await startAgain();
    await untilEqual();
    const ids = new Set((await entities()).map(({ metadata }) => metadata.uid));
    expect(
      kept
        .filter(({ metadata }) => !ids.has(metadata.uid))
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(['bob', 'rel-eng']);
    await untilIngested();
    await backUpDirectory();
    await expectRecovered();
  });

  it.each(Object.entries(faults))(
    `are kept when the directory %s, ${FAULTS} times`,
    async (_name, { cause, recover }) => {
      for (let round = 0; round < FAULTS; round++) {
        const { length } = stripVTControlCharacters(gateway.log());
        await cause();
        await untilFailing(length);
        await expectKept();
        await recover();
        await expectRecovered();
        expect(gateway.alive()).toBe(true);
      }
    },
  );
});
