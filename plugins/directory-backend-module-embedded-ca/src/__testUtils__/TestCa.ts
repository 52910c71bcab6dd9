import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { readEmbeddedCaConfig, type EmbeddedCaConfig } from '../config';
import { createEmbeddedCa, type EmbeddedCa } from '../createEmbeddedCa';
import { CERTIFICATES } from '../database/rows';
import { migrateDatabase } from '../module';
import { lintCertificate } from './lintCertificate';
import { aliceRequest } from './requests';
import type { TestDatabase, TestDatabaseKind } from './TestDatabase';
import { type TestIntermediate, TestRoot } from './TestHierarchy';

/** Base of the URLs in test certificates. */
export const PUBLIC_URL = 'http://portal.example.test/api/directory';

/** An embedded CA with its own folder, root, intermediate and database. */
export class TestCa {
  /** Milliseconds by which the clock is ahead. */
  clockAheadMs = 0;
  readonly folder: string;
  readonly root: TestRoot;
  readonly intermediate: TestIntermediate;
  readonly database: TestDatabase;
  readonly logger = new RecordingLogger();
  readonly #opened: EmbeddedCa[] = [];

  /** @param options - `tables`: whether they are created. Default: `created` */
  static async start(
    kind: TestDatabaseKind,
    options: { readonly tables: 'created' | 'none' } = { tables: 'created' },
  ): Promise<TestCa> {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-ca-'));
    await mkdir(join(folder, 'log'), { mode: 0o700 });
    const root = await TestRoot.create(folder);
    const database = await kind.start(folder);
    if (options.tables === 'created') {
      await migrateDatabase(database.knex);
    }
    const intermediate = await root.createIntermediate();
    return new TestCa({ folder, root, intermediate, database });
  }

  private constructor(
    options: Pick<TestCa, 'folder' | 'root' | 'intermediate' | 'database'>,
  ) {
    this.folder = options.folder;
    this.root = options.root;
    this.intermediate = options.intermediate;
    this.database = options.database;
  }

  /** Returns the `embedded` block, with the given changes. */
  block(changes: JsonObject = {}): JsonObject {
    const files = this.intermediate.files;
    const local = {
      issuers: [{ chainFile: files.chainFile, keyFile: files.keyFile }],
      logFolder: join(this.folder, 'log'),
      limit: { certificates: 1_000_000 },
    };
    return {
      organization: 'EXAMPLE.TEST',
      ...(changes.socket === undefined && local),
      ...changes,
    };
  }

  /** Opens the CA as a portal instance does. */
  async open(changes: JsonObject = {}): Promise<EmbeddedCa> {
    const opened = await createEmbeddedCa({
      config: readConfig(this.block(changes)),
      database: this.database.knex,
      publicUrl: PUBLIC_URL,
      logger: this.logger,
      now: () => Date.now() + this.clockAheadMs,
    });
    this.#opened.push(opened);
    return opened;
  }

  /**
   * Returns why an instance cannot sign; its log must contain the reason, too.
   */
  async refusalOf(node: EmbeddedCa): Promise<string> {
    const error = await node.authority.sign(aliceRequest()).catch(e => e);
    const reason = String(error.message).replace(
      'This instance cannot sign: ',
      '',
    );
    const expected = `error This instance cannot sign certificates: ${reason}`;
    if (
      error.name !== 'AuthorityUnavailableError' ||
      this.logger.lines.at(-1) !== expected
    ) {
      throw new Error(`Unexpected ${error}, with the log ${this.logger.lines}`);
    }
    return reason;
  }

  /** Stops the CA, and lints every issued certificate. */
  async stop(): Promise<void> {
    const { knex } = this.database;
    const rows = (await knex.schema.hasTable(CERTIFICATES))
      ? await knex(CERTIFICATES)
          .whereNotNull('certificate')
          .distinct('certificate')
      : [];
    await Promise.all(this.#opened.map(({ issuers }) => issuers.close()));
    await this.database.stop();
    await rm(this.folder, { recursive: true, force: true });
    rows.forEach(({ certificate }) => lintCertificate(certificate));
  }
}

/** Reads an `embedded` block as the portal does. */
export function readConfig(block: JsonObject): EmbeddedCaConfig {
  const config = readEmbeddedCaConfig(
    new ConfigReader({ directory: { certificates: { embedded: block } } }),
  );
  if (!config) {
    throw new Error('The embedded block is missing');
  }
  return config;
}
