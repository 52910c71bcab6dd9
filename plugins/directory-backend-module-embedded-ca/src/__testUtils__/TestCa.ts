import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readEmbeddedCaConfig, type EmbeddedCaConfig } from '../config';
import { createEmbeddedCa, type EmbeddedCa } from '../createEmbeddedCa';
import { migrateDatabase } from '../module';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { aliceRequest } from './requests';
import type { TestDatabase, TestDatabaseKind } from './TestDatabase';

/** URL of the CRL in certificates of tests. */
export const CRL_URL = 'https://portal.example.test/api/directory/ca/crl';

/** An embedded CA with its own folder and database. */
export class TestCa {
  /** Milliseconds by which its clock is fast. */
  clockAheadMs = 0;
  readonly folder: string;
  readonly database: TestDatabase;
  readonly logger = new RecordingLogger();

  /** @param options - `tables`: whether they are created. Default: `created` */
  static async start(
    kind: TestDatabaseKind,
    options: { readonly tables: 'created' | 'none' } = { tables: 'created' },
  ): Promise<TestCa> {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-ca-'));
    const database = await kind.start(folder);
    if (options.tables === 'created') {
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

  /** Opens the CA as an instance of the portal does. */
  async open(changes: JsonObject = {}): Promise<EmbeddedCa> {
    return await createEmbeddedCa({
      config: this.config(changes),
      database: this.database.knex,
      crlUrl: CRL_URL,
      logger: this.logger,
      now: () => Date.now() + this.clockAheadMs,
    });
  }

  /** Reason why an instance cannot sign, which its log must contain, too. */
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

  async stop(): Promise<void> {
    await this.database.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Reads an `embedded` block as the portal does. */
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
    throw new Error('The embedded block is missing');
  }
  return config;
}
