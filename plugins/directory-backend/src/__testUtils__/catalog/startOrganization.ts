import { stringifyEntityRef } from '@backstage/catalog-model';
import {
  freePorts,
  PostgresServer,
  startRealm,
} from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import {
  dumpEntries,
  eventually,
  groupDn,
} from '@directory-gateway/directory-core/testUtils';
import { ldapOf } from '@directory-gateway/ldap/testUtils';
import { startGateway, type Gateway } from '../gateway/startGateway';
import {
  catalogEntities,
  catalogEntity,
  directoryNames,
  namesOf,
  type CatalogEntity,
} from './catalogEntities';

export const SERVICE_TOKEN = randomBytes(24).toString('base64url');
export const CATALOG = 'backstage_plugin_catalog';
const DIRECTORY = 'backstage_plugin_directory';
/** Name of a group whose description tests change. */
const GROUP = 'provenpackager';

const run = promisify(execFile);

/** Returns LDIF that changes the description of a group. */
export const describeGroup = (dn: string, description: string) =>
  `dn: ${dn}\nchangetype: modify\nreplace: description\ndescription: ${description}\n`;

/** Returns entities sorted by ID, without the values that tests change. */
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

/**
 * Starts a directory, a database and a portal whose catalog has the users and
 * groups of the directory.
 */
export async function startOrganization() {
  const [realm, postgres] = await Promise.all([
    startRealm(),
    PostgresServer.start(),
  ]);
  // Fixed port, because entities contain the URL of the portal.
  const [port] = await freePorts(1);
  const folder = await mkdtemp(join(tmpdir(), 'catalog-'));
  let gateway: Gateway;
  let kept: readonly CatalogEntity[] = [];
  let changes = 0;

  const databaseFolder = () => join(realm.dir, 'instance/var/lib/dirsrv/db');

  async function start(
    options: Pick<
      Parameters<typeof startGateway>[0],
      'entry' | 'until' | 'catalog' | 'search'
    > = {},
  ): Promise<void> {
    const { host, user } = postgres.connection('postgres');
    gateway = await startGateway({
      realm,
      port,
      entry: 'catalogPortal',
      until: 'started',
      serviceToken: SERVICE_TOKEN,
      directory: {
        // Finds a lost right at the next access check.
        ldap: { ...ldapOf(realm), probeInterval: { seconds: 1 } },
        replica: { maxStaleness: '5s' },
      },
      backend: { database: { client: 'pg', connection: { host, user } } },
      ...options,
      catalog: {
        orphanProviderStrategy: 'keep',
        processingInterval: { minutes: 30 },
        ...options.catalog,
      },
    });
  }

  /** Expires what a killed portal still holds in a database. */
  async function expire(
    database: string,
    table: string,
    column: string,
  ): Promise<void> {
    const knex = postgres.connect(database);
    try {
      await knex(table)
        .whereNotNull(column)
        .update({ [column]: new Date(0) });
    } finally {
      await knex.destroy();
    }
  }

  /** Starts the portal after the leases of the previous one have expired. */
  async function startAgain(
    options?: Parameters<typeof start>[0],
  ): Promise<void> {
    await expire(
      CATALOG,
      'backstage_backend_tasks__tasks',
      'current_run_expires_at',
    );
    await expire(DIRECTORY, 'directory_change_writer', 'expires_at');
    await start(options);
  }

  const entities = () => catalogEntities(gateway, SERVICE_TOKEN);

  async function expectKept(): Promise<void> {
    const all = await entities();
    expect(namesOf(all)).toEqual(namesOf(kept));
    expect(contentOf(all)).toEqual(contentOf(kept));
  }

  /**
   * Expects the catalog to follow the directory and to have kept its entities.
   */
  async function expectRecovered(): Promise<void> {
    const description = `change ${changes++}`;
    await eventually(() =>
      realm.modify(describeGroup(groupDn(GROUP), description)),
    );
    await eventually(async () => {
      const group = await catalogEntity(gateway, SERVICE_TOKEN, 'Group', GROUP);
      expect(group?.metadata.description).toBe(description);
    });
    await expectKept();
  }

  /** Copies the directory's database so that it can be restored. */
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

  /** Faults of the directory and how they end. */
  const faults = {
    'denies access': {
      cause: () => setDenied('add'),
      recover: () => setDenied('delete'),
    },
    'is unreachable': {
      cause: () => realm.directory.kill(),
      recover: () => realm.directory.start(),
    },
    // Recovery restores an older state of the server, which the change log
    // detects on start.
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

  /** Replaces a database with a copy of another database. */
  async function replaceDatabase(name: string, source: string): Promise<void> {
    const knex = postgres.connect('postgres');
    try {
      await knex.raw('drop database if exists ??', [name]);
      await knex.raw('create database ?? template ??', [name, source]);
    } finally {
      await knex.destroy();
    }
  }

  /** Waits until the catalog no longer follows the directory. */
  async function untilFailing(offset = 0): Promise<void> {
    await eventually(() =>
      expect(stripVTControlCharacters(gateway.log()).slice(offset)).toContain(
        'Users and groups in the catalog are not updated',
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
        const unknown = relations.filter(
          ({ targetRef }) => !refs.has(targetRef),
        );
        expect(unknown).toEqual([]);
      }
    });
  }

  await backUpDirectory();
  const startedAt = performance.now();
  await start();
  await untilIngested();

  return {
    realm,
    postgres,
    folder,
    /**
     * Milliseconds from the start of the portal until the catalog was complete.
     */
    ingestionMs: performance.now() - startedAt,
    faults,
    gateway: () => gateway,
    /** Entities of the catalog after the last {@link untilIngested}. */
    kept: () => kept,
    entities,
    startAgain,
    expectKept,
    expectRecovered,
    untilFailing,
    untilIngested,
    backUpDirectory,
    replaceDatabase,
    async stop() {
      await gateway.stop();
      await postgres.stop();
      await realm.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
