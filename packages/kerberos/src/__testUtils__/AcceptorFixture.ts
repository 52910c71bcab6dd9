import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Realm, startRealm } from '@directory-gateway/realm';
import { AcceptorProcess } from './AcceptorProcess';
import { TicketClient, TicketClientOptions } from './TicketClient';

/** A realm with its clients and acceptors. */
export class AcceptorFixture {
  readonly realm: Realm;
  /** Temporary folder, removed with the fixture. */
  readonly folder: string;
  /** Path of the acceptors' keytab. */
  readonly keytab: string;
  /** Path of the acceptors' replay cache. */
  readonly replayCache: string;
  readonly #started = new Array<{ stop(): Promise<void> }>();

  static async start(): Promise<AcceptorFixture> {
    const folder = await mkdtemp(join(tmpdir(), 'kerberos-test-'));
    return new AcceptorFixture({ realm: await startRealm(), folder });
  }

  private constructor(options: { realm: Realm; folder: string }) {
    this.realm = options.realm;
    this.folder = options.folder;
    this.keytab = join(options.folder, 'server.keytab');
    this.replayCache = join(options.folder, 'replay-cache');
  }

  async startAcceptor(
    options: { realm?: string; realms?: string[] } = {},
  ): Promise<AcceptorProcess> {
    const acceptor = await AcceptorProcess.start({
      config: {
        keytab: this.keytab,
        realm: options.realm,
        realms: options.realms ?? [],
      },
      env: {
        ...process.env,
        KRB5_CONFIG: this.realm.krb5Config,
        KRB5_KTNAME: undefined,
        KRB5RCACHENAME: `file2:${this.replayCache}`,
      },
    });
    this.#started.push(acceptor);
    return acceptor;
  }

  /** Starts a client, with alice's ticket by default. */
  async startClient(
    options: Partial<TicketClientOptions> = {},
  ): Promise<TicketClient> {
    const client = await TicketClient.start({
      ...options,
      ticket: options.ticket ?? (await this.realm.ticket('alice')),
      krb5Config: this.realm.krb5Config,
    });
    this.#started.push(client);
    return client;
  }

  /** Returns a token, from alice's ticket by default. */
  async token(options: Partial<TicketClientOptions> = {}): Promise<string> {
    const client = await this.startClient(options);
    await client.stop();
    return client.token;
  }

  /** Replaces the acceptors' keytab atomically. Default: the realm's. */
  async installKeytab(content?: Buffer): Promise<void> {
    const next = `${this.keytab}.new`;
    await writeFile(next, content ?? (await readFile(this.realm.keytab)), {
      mode: 0o600,
    });
    await rm(this.keytab, { recursive: true, force: true });
    await rename(next, this.keytab);
  }

  /**
   * Returns the realm's keytab with a text in principals replaced by one of the
   * same length.
   */
  async renamedKeytab(from: string, to: string): Promise<Buffer> {
    const text = (await readFile(this.realm.keytab)).toString('latin1');
    return Buffer.from(text.replaceAll(from, to), 'latin1');
  }

  /** Stops the acceptors and clients. */
  async stopProcesses(): Promise<void> {
    for (const started of this.#started.splice(0)) {
      await started.stop();
    }
  }

  async stop(): Promise<void> {
    await this.stopProcesses();
    await this.realm.stop();
    await rm(this.folder, { recursive: true });
  }
}
