import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type {
  PublicDocument,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  createSigningRequest,
  type KeyPair,
  RecordingLogger,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import createKnex, { type Knex } from 'knex';
import { CaIssuer } from '../CaIssuer';
import { readEmbeddedCaConfig } from '../config';
import { createEmbeddedCa, migrateDatabase } from '../module';
import { MemoryRecords } from './MemoryRecords';

/** Base of the URLs in test certificates. */
export const PUBLIC_URL = 'http://portal.example.test/api/directory';

const PROGRAM = join(__dirname, '../../bin/embedded-ca');

/** Runs `embedded-ca`, and returns what it prints. */
export function runProgram(...args: readonly string[]): string {
  return execFileSync(PROGRAM, args, { encoding: 'utf8', stdio: 'pipe' });
}

/** Returns the output of OpenSSL, also when it fails. */
export function openssl(args: readonly string[], input?: Buffer): string {
  const { stdout, stderr } = spawnSync('openssl', args, {
    encoding: 'utf8',
    input,
  });
  return stdout + stderr;
}

/** Content of a CRL (DER) as OpenSSL reads it; serial numbers are decimal. */
export function readCrl(crl: Buffer) {
  const text = openssl(['crl', '-inform', 'DER', '-noout', '-text'], crl);
  const number = /CRL Number: \s+(0x)?(\w+)/.exec(text);
  return {
    number: Number((number?.[1] ?? '') + number?.[2]),
    entries: text
      .split(/Serial Number: /)
      .slice(1)
      .map(entry => ({
        serialNumber: String(BigInt(`0x${/^[0-9A-F]+/.exec(entry)?.[0]}`)),
        reason: /Reason Code: \s+(.*)/.exec(entry)?.[1] ?? '',
      })),
  };
}

/** A process of the portal with the embedded CA. */
export interface TestNode extends Awaited<ReturnType<typeof createEmbeddedCa>> {
  /** Reads a public document. */
  read(
    document: 'crl' | 'certificate',
    name: string,
  ): Promise<Buffer | undefined>;
}

/** A folder with a root and an intermediate, a database and the records. */
export class TestCa {
  /** Milliseconds by which the clock is ahead. */
  clockAheadMs = 0;
  readonly records = new MemoryRecords();
  readonly logger = new RecordingLogger();
  readonly folder: string;
  readonly knex: Knex;

  /** @param database - empty; default: SQLite in a file */
  static async start(database?: Knex): Promise<TestCa> {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-ca-'));
    const knex =
      database ??
      createKnex({
        client: 'better-sqlite3',
        connection: { filename: join(folder, 'records.sqlite') },
        useNullAsDefault: true,
      });
    await migrateDatabase(knex);
    const ca = new TestCa(folder, knex);
    ca.create('create');
    ca.create('intermediate');
    return ca;
  }

  private constructor(folder: string, knex: Knex) {
    this.folder = folder;
    this.knex = knex;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  create(command: 'create' | 'intermediate', ...options: readonly string[]) {
    const common = ['--folder', this.folder, '--organization', 'EXAMPLE.TEST'];
    return runProgram(command, ...common, ...options);
  }

  /** An element of `issuers`. */
  files(name = 'intermediate') {
    return {
      chainFile: this.path(`${name}.pem`),
      keyFile: this.path(`${name}.key`),
    };
  }

  /** The issuer of a file, without its key. */
  async issuer(name = 'intermediate'): Promise<CaIssuer> {
    return await CaIssuer.read({ chainFile: this.path(`${name}.pem`) });
  }

  /** Opens the CA as a process of the portal does. */
  async open(changes: JsonObject = {}): Promise<TestNode> {
    const block = {
      organization: 'EXAMPLE.TEST',
      issuers: [this.files()],
      ...changes,
    };
    const documents = new Map<string, PublicDocument>();
    const opened = await createEmbeddedCa({
      config: readEmbeddedCaConfig(
        new ConfigReader({ directory: { certificates: { embedded: block } } }),
      )!,
      database: this.knex,
      revocations: this.records,
      publicDocuments: {
        addPublicDocument: document => documents.set(document.path, document),
      },
      publicUrl: PUBLIC_URL,
      logger: this.logger,
      now: () => Date.now() + this.clockAheadMs,
    });
    return {
      ...opened,
      read: async (document, name) =>
        documents.get(`/ca/:issuer/${document}`)!.read(name),
    };
  }

  /** Signs a certificate for alice, and records it. */
  async issue(node: TestNode, changes: Partial<SigningRequest> = {}) {
    const signed = await node.authority.sign(aliceRequest(changes));
    return { ...signed, serialNumber: this.records.add(signed) };
  }

  async readCrl(node: TestNode, name = 'intermediate') {
    const issuer = await this.issuer(name);
    return readCrl((await node.read('crl', issuer.name))!);
  }

  async stop(): Promise<void> {
    await this.knex.destroy();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Alice's request for `userCerts`, with a new P-256 key by default. */
export function aliceRequest(
  changes: Partial<SigningRequest> & { readonly key?: KeyPair } = {},
): SigningRequest {
  const { key, ...others } = changes;
  return {
    ...createSigningRequest({
      username: 'alice',
      principal: 'alice@EXAMPLE.TEST',
      profile: 'userCerts',
      key,
    }),
    serialNumber: BigInt(`0x40${randomBytes(15).toString('hex')}`),
    ...others,
  };
}
