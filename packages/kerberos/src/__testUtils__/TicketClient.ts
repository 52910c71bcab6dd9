import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, Interface } from 'node:readline';

/** Flags of a security context (RFC 2744 §3.9; DCE style is [MS-KILE] §3.4.5.1's). */
export const GSS_FLAGS = { none: 0, mutual: 2, dceStyle: 0x1000 } as const;

/** Numbers of mechanisms in the `kerberos` binding. */
export const GSS_MECHANISMS = { krb5: 9, spnego: 6 } as const;

/** Options of {@link TicketClient.start}. */
export interface TicketClientOptions {
  /** `FILE:<path>` of a ticket cache. */
  ticket: string;
  /** Path of the realm's `krb5.conf`. */
  krb5Config: string;
  /** The server, as `type@host`. Default: `HTTP@localhost`, whose key is in the keytab. */
  service?: string;
  mechanism?: keyof typeof GSS_MECHANISMS;
  /** Default: mutual authentication. */
  flags?: number;
}

/** Prints a token, then reads the server's reply and prints whether the context is complete. */
const SCRIPT = `
  const { initializeClient } = require(process.argv[1]);
  const [service, mechOID, flags] = process.argv.slice(2);
  (async () => {
    const client = await initializeClient(service, {
      mechOID: Number(mechOID),
      flags: Number(flags),
    });
    console.log(await client.step(''));
    process.stdin.once('data', async reply => {
      await client.step(String(reply).trim()).catch(() => {});
      console.log(client.contextComplete);
      process.exit();
    });
  })();
`;

/**
 * A Kerberos client in a child process, because the library reads the ticket cache from the
 * environment of the process.
 */
export class TicketClient {
  /** Base64 token, for one use. */
  readonly token: string;
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  static async start(options: TicketClientOptions): Promise<TicketClient> {
    const child = spawn(
      process.execPath,
      [
        '--eval',
        SCRIPT,
        require.resolve('kerberos'),
        options.service ?? 'HTTP@localhost',
        String(GSS_MECHANISMS[options.mechanism ?? 'spnego']),
        String(options.flags ?? GSS_FLAGS.mutual),
      ],
      {
        env: {
          ...process.env,
          KRB5_CONFIG: options.krb5Config,
          KRB5CCNAME: options.ticket,
        },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    const lines = createInterface(child.stdout);
    const [token] = await Promise.race([
      once(lines, 'line'),
      once(child, 'exit').then(() => {
        throw new Error('The client has no token');
      }),
    ]);
    return new TicketClient({ token, child, lines });
  }

  private constructor(options: {
    token: string;
    child: ChildProcess;
    lines: Interface;
  }) {
    this.token = options.token;
    this.#process = options.child;
    this.#lines = options.lines;
  }

  /** Whether the reply proves the server's identity to the client. */
  async finish(replyToken: string): Promise<boolean> {
    const line = once(this.#lines, 'line');
    this.#process.stdin?.write(`${replyToken}\n`);
    return (await line)[0] === 'true';
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill();
      await once(this.#process, 'exit');
    }
  }
}
