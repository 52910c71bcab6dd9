import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readEmbeddedCaConfig, type EmbeddedCaConfig } from '../config';
import { createEmbeddedCa, type EmbeddedCa } from '../createEmbeddedCa';
import { migrateDatabase } from '../module';
import { RecordingLogger } from './RecordingLogger';
import { aliceRequest } from './requests';
import type { TestDatabase, TestDatabaseKind } from './TestDatabase';

/** Where the certificates of tests say that their revocation list is. */
export const CRL_URL = 'https://portal.example.test/api/directory/ca/crl';

/** An authority with a folder and a database of its own. */
export class TestCa {
  /** Milliseconds that its clock is ahead. */
  clockAheadMs = 0;
  readonly folder: string;
  readonly database: TestDatabase;
  readonly logger = new RecordingLogger();

  /** @param options - whether its tables are made, too. Default: `made` */
  static async start(
    kind: TestDatabaseKind,
    options: { readonly tables: 'made' | 'none' } = { tables: 'made' },
  ): Promise<TestCa> {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-ca-'));
    const database = await kind.start(folder);
    if (options.tables === 'made') {
      await migrateDatabase(database.knex);
    }
    return new TestCa(folder, database);
  }

  private constructor(folder: string, database: TestDatabase) {
    this.folder = folder;
    this.database = database;
  }

  get keyFile(): string {
    return join(this.folder, 'keys', 'ca-key.pem');
  }

  /** The configuration, with changes to the `embedded` block. */
  config(changes: JsonObject = {}): EmbeddedCaConfig {
    return embeddedCaConfig({ keyFile: this.keyFile, ...changes });
  }

  /** A node of the authority: what a start of the portal makes. */
  async open(changes: JsonObject = {}): Promise<EmbeddedCa> {
    return await createEmbeddedCa({
      config: this.config(changes),
      database: this.database.knex,
      crlUrl: CRL_URL,
      logger: this.logger,
      now: () => Date.now() + this.clockAheadMs,
    });
  }

  /** Why a node does not sign; its log must say the same. */
  async refusalOf(node: EmbeddedCa): Promise<string> {
    const error = await node.authority.sign(aliceRequest()).catch(e => e);
    const reason = String(error.message).replace(
      'This node does not sign: ',
      '',
    );
    const expected = `error This node does not sign certificates: ${reason} {}`;
    if (
      error.name !== 'AuthorityUnavailableError' ||
      this.logger.lines.at(-1) !== expected
    ) {
      throw new Error(
        `Not as a node refuses: ${error}, with the log ${this.logger.lines}`,
      );
    }
    return reason;
  }

  async stop(): Promise<void> {
    await this.database.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The `embedded` block of tests, read as the portal reads it. */
export function embeddedCaConfig(
  block: JsonObject & { readonly keyFile: string },
): EmbeddedCaConfig {
  const config = readEmbeddedCaConfig(
    new ConfigReader({
      directory: {
        certificates: { embedded: { organization: 'EXAMPLE.TEST', ...block } },
      },
    }),
  );
  if (!config) {
    throw new Error('The embedded block is not there');
  }
  return config;
}
