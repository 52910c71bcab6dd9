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

/** Portals on one directory, each with its own databases. */
const PORTALS = 5;
/** Repetitions of each fault, over all portals. */
const FAULTS = Number(process.env.FAULTS || 10);
const ROUNDS = Math.ceil(FAULTS / PORTALS);
const TIMES = `${ROUNDS * PORTALS} times`;

jest.setTimeout(900_000 + ROUNDS * 600_000);

const SERVICE_TOKEN = randomBytes(24).toString('base64url');
/** Longest time from a change until the portals are killed. */
const SETTLE_MS = 5000;

const run = promisify(execFile);

let realm: Realm;
let postgres: PostgresServer;
let folder: string;
/** Entities contain the URL of the portal. */
let externalUrl: string;
/** Milliseconds from the start of a portal until its catalog is complete. */
let ingestionMs: number;
let arrivals = 0;

const databaseFolder = () =>
  join(realm.dir, 'instance/var/lib/dirsrv/slapd-realm/db');

type StartOptions = Pick<
  Parameters<typeof startGateway>[0],
  'entry' | 'until' | 'catalog'
>;

/** A portal whose catalog has the users and groups of the directory. */
class Portal {
  readonly #index: number;
  #gateway: Gateway | undefined;
  /** The catalog after the first ingestion. */
  kept: readonly CatalogEntity[] = [];

  constructor(index: number) {
    this.#index = index;
  }

  get gateway(): Gateway {
    return this.#gateway!;
  }

  /** Name of the database of a plugin. */
  database(plugin: string): string {
    return `portal${this.#index}_${plugin}`;
  }

  async start(options: StartOptions = {}): Promise<void> {
    const { host, user } = postgres.connection('postgres');
    this.#gateway = await startGateway({
      realm,
      externalUrl,
      entry:
        'plugins/directory-backend/src/__testUtils__/catalog/catalogPortal.ts',
      until: 'started',
      serviceToken: SERVICE_TOKEN,
      directory: {
        changes: { keys: [{ secretFile: join(folder, 'key') }] },
        replica: { maxStaleness: '5s' },
      },
      backend: {
        database: {
          client: 'pg',
          connection: { host, user },
          prefix: this.database(''),
        },
      },
      ...options,
      catalog: {
        orphanProviderStrategy: 'keep',
        processingInterval: '30m',
        ...options.catalog,
      },
    });
  }

  /** Starts the portal after the leases of the previous process have expired. */
  async startAgain(options?: StartOptions): Promise<void> {
    const expired = new Date(0);
    await this.#withDatabase('catalog', knex =>
      knex('backstage_backend_tasks__tasks')
        .whereNotNull('current_run_expires_at')
        .update({ current_run_expires_at: expired }),
    );
    await this.#withDatabase('directory', knex =>
      knex('directory_change_writer').update({ expires_at: expired }),
    );
    await this.start(options);
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
  }

  async kill(): Promise<void> {
    await this.gateway.kill();
  }

  log(): string {
    return stripVTControlCharacters(this.gateway.log());
  }

  entities(): Promise<readonly CatalogEntity[]> {
    return catalogEntities(this.gateway, SERVICE_TOKEN);
  }

  /** Shows an entity as before it was processed. */
  async hideDigest(uid: string, digest: string): Promise<void> {
    await this.#withDatabase('catalog', knex =>
      knex('final_entities')
        .where({ entity_id: uid })
        .update({
          final_entity: knex.raw('replace(final_entity, ?, ?)', [
            digest,
            'before',
          ]),
        }),
    );
  }

  async #withDatabase(
    plugin: string,
    work: (knex: ReturnType<PostgresServer['connect']>) => PromiseLike<unknown>,
  ): Promise<void> {
    const knex = postgres.connect(this.database(plugin));
    try {
      await work(knex);
    } finally {
      await knex.destroy();
    }
  }
}

const portals = Array.from(
  { length: PORTALS },
  (_, index) => new Portal(index),
);
/** The portal of tests that do not repeat a fault. */
const [portal] = portals;

/** Number of portals that are running. */
const running = () => portals.filter(one => one.gateway.alive()).length;

const each = (work: (portal: Portal) => Promise<void>) =>
  Promise.all(portals.map(work));

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

async function expectKept(one: Portal): Promise<void> {
  const all = await one.entities();
  expect(namesOf(all)).toEqual(namesOf(one.kept));
  expect(contentOf(all)).toEqual(contentOf(one.kept));
}

/** Waits until the catalog of a portal does not follow the directory. */
async function untilFailing(one: Portal, offset = 0): Promise<void> {
  await eventually(() =>
    expect(one.log().slice(offset)).toContain(
      'Users and groups of the catalog are not updated',
    ),
  );
}

/** Waits until the catalog of a portal has all entities and their relations. */
async function untilIngested(one: Portal): Promise<void> {
  const names = await directoryNames(realm);
  await eventually(async () => {
    one.kept = await one.entities();
    expect(namesOf(one.kept)).toEqual(names);
    const refs = new Set(
      one.kept.map(({ kind, metadata: { name } }) =>
        stringifyEntityRef({ kind, name }),
      ),
    );
    for (const { spec, relations = [] } of one.kept) {
      const groups = relations.filter(({ type }) => type === 'memberOf');
      expect(groups).toHaveLength(spec.memberOf?.length ?? 0);
      const unknown = relations.filter(({ targetRef }) => !refs.has(targetRef));
      expect(unknown).toEqual([]);
    }
  });
}

/** Expects that catalogs follow the directory and have kept their entities. */
async function expectRecovered(
  recovered: readonly Portal[] = portals,
): Promise<void> {
  const name = `arrival-${arrivals++}`;
  const untilFound = (isFound: boolean) =>
    Promise.all(
      recovered.map(one =>
        eventually(async () =>
          expect(
            (await one.entities()).some(
              ({ metadata }) => metadata.name === name,
            ),
          ).toBe(isFound),
        ),
      ),
    );
  await eventually(() => realm.modify(addFasUser(name)));
  await untilFound(true);
  await realm.modify(`dn: ${userDn(name)}\nchangetype: delete\n`);
  await untilFound(false);
  const names = await directoryNames(realm);
  for (const one of recovered) {
    await expectKept(one);
    expect(namesOf(await one.entities())).toEqual(names);
  }
}

/** Kills a portal after a change, and again while it compares the catalog. */
async function killDuringSync(one: Portal, description: string): Promise<void> {
  await sleep(randomInt(SETTLE_MS));
  await one.kill();
  await one.startAgain({ until: 'listening' });
  await sleep(randomInt(Math.ceil(ingestionMs)));
  await one.kill();
  await one.startAgain();
  await eventually(async () => {
    const outdated = (await one.entities()).filter(
      ({ kind, metadata }) =>
        kind === 'Group' && metadata.description !== description,
    );
    expect(outdated).toEqual([]);
  });
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

/** Gives the other portals copies of the databases of the first one. */
async function copyDatabases(): Promise<void> {
  const knex = postgres.connect('postgres');
  const prefix = portal.database('');
  const rows: readonly { readonly datname: string }[] = await knex(
    'pg_database',
  )
    .whereLike('datname', `${prefix}%`)
    .select('datname');
  await knex.destroy();
  for (const { datname } of rows) {
    for (const other of portals.slice(1)) {
      const name = other.database(datname.slice(prefix.length));
      await replaceDatabase(name, datname);
    }
  }
}

beforeAll(async () => {
  [realm, postgres] = await Promise.all([startRealm(), PostgresServer.start()]);
  const [port] = await freePorts(1);
  externalUrl = `http://localhost:${port}`;
  folder = await mkdtemp(join(tmpdir(), 'catalog-'));
  await writeFile(join(folder, 'key'), randomBytes(32).toString('base64'), {
    mode: 0o600,
  });
  await backUpDirectory();
  const startedAt = performance.now();
  await portal.start();
  await untilIngested(portal);
  ingestionMs = performance.now() - startedAt;
  await portal.stop();
  await copyDatabases();
  await each(one => one.startAgain());
  await each(untilIngested);
});

afterAll(async () => {
  await each(one => one.stop());
  await postgres?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the entities of the catalog', () => {
  it(`are kept when portals start without their directory, ${TIMES}`, async () => {
    const all = Object.values(faults);
    for (let round = 0; round < ROUNDS; round++) {
      const { cause, recover } = all[round % all.length];
      await each(one => one.stop());
      await cause();
      await each(one => one.startAgain());
      await each(one => untilFailing(one));
      await each(expectKept);
      await recover();
      await expectRecovered();
      expect(running()).toBe(PORTALS);
    }
  });

  it(`are kept when portals are killed during their sync, ${TIMES}`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
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
      await each(one => killDuringSync(one, description));
      await expectRecovered();
      expect(running()).toBe(PORTALS);
    }
  });

  it('are shown again when the portal was killed before it stitched one', async () => {
    const [{ metadata }] = portal.kept;
    const digest = metadata.annotations['directory-gateway/digest'];
    await portal.stop();
    await portal.hideDigest(metadata.uid, digest);
    await portal.startAgain();
    await eventually(async () => {
      const shown = (await portal.entities()).find(
        entity => entity.metadata.uid === metadata.uid,
      );
      expect(shown?.metadata.annotations['directory-gateway/digest']).toMatch(
        new RegExp(`^${digest}\\.\\d+$`),
      );
    });
    await expectRecovered([portal]);
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
    await portal.stop();
    await portal.startAgain({
      entry: 'plugins/directory-backend/dev/index.ts',
      catalog: { locations: [{ type: 'file', target: file }] },
    });
    // The catalog processes entities, and has removed those without a provider.
    await eventually(async () => {
      const response = await fetch(
        `${portal.gateway.baseUrl}/api/catalog/entities/by-name/component/default/website`,
        { headers: { Authorization: `Bearer ${SERVICE_TOKEN}` } },
      );
      expect(response.status).toBe(200);
    });
    await expectKept(portal);
    await portal.stop();
    await portal.startAgain();
    await expectRecovered([portal]);
  });

  it.each(Object.entries(faults))(
    `are kept when the directory %s, ${TIMES}`,
    async (_name, { cause, recover }) => {
      for (let round = 0; round < ROUNDS; round++) {
        const offsets = new Map(
          portals.map(one => [one, one.log().length] as const),
        );
        await cause();
        await each(one => untilFailing(one, offsets.get(one)));
        await each(expectKept);
        await recover();
        await expectRecovered();
        expect(running()).toBe(PORTALS);
      }
    },
  );

  it('are those of the directory after the database was restored from an older backup', async () => {
    const backup = 'catalog_backup';
    await portal.stop();
    await replaceDatabase(backup, portal.database('catalog'));
    await portal.startAgain();
    await realm.modify(
      addFasUser('later') +
        addFasGroup('later-group', [userDn('later')]) +
        [userDn('bob'), groupDn('rel-eng')]
          .map(dn => `dn: ${dn}\nchangetype: delete\n\n`)
          .join(''),
    );
    const names = await directoryNames(realm);
    const untilEqual = () =>
      eventually(async () =>
        expect(namesOf(await portal.entities())).toEqual(names),
      );
    await untilEqual();
    await portal.stop();
    await replaceDatabase(portal.database('catalog'), backup);
    await portal.startAgain();
    await untilEqual();
    const ids = new Set(
      (await portal.entities()).map(({ metadata }) => metadata.uid),
    );
    expect(
      portal.kept
        .filter(({ metadata }) => !ids.has(metadata.uid))
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(['bob', 'rel-eng']);
    await untilIngested(portal);
    await expectRecovered([portal]);
  });
});
