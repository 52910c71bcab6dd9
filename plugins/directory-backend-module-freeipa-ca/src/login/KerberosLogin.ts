import {
  GSS_MECH_OID_SPNEGO,
  type KerberosClient,
  initializeClient,
} from 'kerberos';
import type { HttpsResponse } from '../rpc/HttpsClient';
import type { FreeIpaServer, Login } from '../rpc/FreeIpaServer';
import { NoResultError } from '../rpc/errors';
import { readSession } from './readSession';

/** Logs in with a Kerberos ticket (SPNEGO, RFC 4559). */
export class KerberosLogin implements Login {
  readonly #principal: string;

  /**
   * @param options - `keytab` is the absolute path of a keytab with the
   * principal's key; without it the environment has to offer tickets.
   * @throws Error when the process already gets tickets with another keytab.
   */
  static create(options: {
    readonly principal: string;
    readonly keytab?: string;
  }): KerberosLogin {
    if (options.keytab !== undefined) {
      claimClientEnvironment({ keytab: options.keytab });
    }
    return new KerberosLogin(options.principal);
  }

  private constructor(principal: string) {
    this.#principal = principal;
  }

  async logIn(server: FreeIpaServer): Promise<string> {
    const { client, token } = await this.#startContext(server);
    const answer = await server.postLogin({
      path: 'login_kerberos',
      headers: { Authorization: `Negotiate ${token}` },
      body: '',
    });
    const session = readSession({ server: server.origin, answer });
    await finishContext({ server, client, answer });
    return session;
  }

  async #startContext(
    server: FreeIpaServer,
  ): Promise<{ client: KerberosClient; token: string }> {
    try {
      const client = await initializeClient(`HTTP@${server.host}`, {
        principal: this.#principal,
        mechOID: GSS_MECH_OID_SPNEGO,
      });
      return { client, token: await client.step('') };
    } catch (error) {
      throw new NoResultError('there is no Kerberos ticket for it', {
        server: server.origin,
        executed: 'no',
        fault: 'unavailable',
        cause: error,
      });
    }
  }
}

/** The server's own token, when it sends one, proves that it is the one meant. */
async function finishContext(options: {
  readonly server: FreeIpaServer;
  readonly client: KerberosClient;
  readonly answer: HttpsResponse;
}): Promise<void> {
  const { server, client, answer } = options;
  const challenge = answer.headers.get('www-authenticate') ?? '';
  const token = /^Negotiate\s+([A-Za-z0-9+/=]+)$/i.exec(challenge)?.[1];
  if (token === undefined) {
    return;
  }
  try {
    await client.step(token);
  } catch (error) {
    throw new NoResultError("its Kerberos reply is not the server's", {
      server: server.origin,
      executed: 'no',
      fault: 'protocol',
      cause: error,
    });
  }
}

/** Tickets live and die with the process; nothing is written to a disk. */
const TICKET_CACHE = 'MEMORY:directory-freeipa-ca';

/**
 * Tells the Kerberos library of this process which keytab to get tickets with.
 * It takes that from the environment and from nowhere else: with
 * `KRB5_CLIENT_KTNAME` the library gets a ticket when one is needed, renews it
 * at half its life, and keeps it in the cache that `KRB5CCNAME` names (MIT
 * Kerberos documentation, "keytab", "Default client keytab").
 *
 * The environment belongs to the whole process and is read by the library's
 * threads, so it is set once, before the first login. Accepting tickets is not
 * touched by it: that is `KRB5_KTNAME`. A cache that the environment already
 * names is kept.
 *
 * @param options - `keytab` is an absolute path; `env` is for tests.
 * @throws Error when the environment already names another client keytab.
 */
export function claimClientEnvironment(options: {
  readonly keytab: string;
  readonly env?: NodeJS.ProcessEnv;
}): void {
  const env = options.env ?? process.env;
  const keytab = `FILE:${options.keytab}`;
  const named = env.KRB5_CLIENT_KTNAME;
  if (named && named !== keytab && named !== options.keytab) {
    throw new Error(
      `directory.certificates.freeipa.login.keytab is ${options.keytab}, but KRB5_CLIENT_KTNAME ` +
        `in the environment of this process already names ${named}. One process can get tickets ` +
        'with one keytab only: set one of the two.',
    );
  }
  env.KRB5_CLIENT_KTNAME = keytab;
  env.KRB5CCNAME ||= TICKET_CACHE;
}
