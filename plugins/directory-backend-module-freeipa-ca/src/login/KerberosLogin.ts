import {
  GSS_MECH_OID_SPNEGO,
  type KerberosClient,
  initializeClient,
} from 'kerberos';
import { NoResultError } from '../rpc/errors';
import type { FreeIpaServer, Login } from '../rpc/FreeIpaServer';
import type { HttpsResponse } from '../rpc/HttpsClient';
import { readSession } from './readSession';

/** Tickets are kept in the process; nothing is written to disk. */
const TICKET_CACHE = 'MEMORY:directory-freeipa-ca';

/** Logs in with a Kerberos ticket (SPNEGO, RFC 4559). */
export class KerberosLogin implements Login {
  readonly #principal: string;

  /**
   * @param options - `keytab`: absolute path of a keytab with the principal's
   *   key. Default: the environment provides tickets
   * @throws Error when the process already uses another client keytab.
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
    const response = await server.postLogin({
      path: 'login_kerberos',
      headers: { Authorization: `Negotiate ${token}` },
      body: '',
    });
    const session = readSession({ server: server.origin, response });
    await finishContext({ server, client, response });
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
      throw new NoResultError('no Kerberos ticket for the server', {
        server: server.origin,
        executed: 'no',
        fault: 'unavailable',
        cause: error,
      });
    }
  }
}

/** Verifies the server's token, if there is one: mutual authentication. */
async function finishContext(options: {
  readonly server: FreeIpaServer;
  readonly client: KerberosClient;
  readonly response: HttpsResponse;
}): Promise<void> {
  const { server, client, response } = options;
  const challenge = response.headers.get('www-authenticate') ?? '';
  const token = /^Negotiate\s+([A-Za-z0-9+/=]+)$/i.exec(challenge)?.[1];
  if (token === undefined) {
    return;
  }
  try {
    await client.step(token);
  } catch (error) {
    throw new NoResultError('the Kerberos token of the server is invalid', {
      server: server.origin,
      executed: 'no',
      fault: 'protocol',
      cause: error,
    });
  }
}

/**
 * Sets the keytab with which the Kerberos library of this process gets tickets.
 * The library reads it only from the environment: with `KRB5_CLIENT_KTNAME`, it
 * gets a ticket when one is needed, renews the ticket after half of its
 * lifetime, and keeps it in the cache `KRB5CCNAME` (MIT Kerberos documentation,
 * "keytab", "Default client keytab"). A cache that the process inherited is not
 * used: if it has tickets of another principal, the library gets none for this
 * one.
 *
 * The environment belongs to the process, and the library's threads read it: it
 * is therefore set once, before the first login. This does not affect the
 * keytab for accepting tickets, `KRB5_KTNAME`.
 *
 * @param options - `keytab`: absolute path; `env`: for tests
 * @throws Error when the environment already sets another client keytab.
 */
export function claimClientEnvironment(options: {
  readonly keytab: string;
  readonly env?: NodeJS.ProcessEnv;
}): void {
  const env = options.env ?? process.env;
  const keytab = `FILE:${options.keytab}`;
  const present = env.KRB5_CLIENT_KTNAME;
  if (present && present !== keytab && present !== options.keytab) {
    throw new Error(
      `directory.certificates.freeipa.login.keytab is ${options.keytab}, but KRB5_CLIENT_KTNAME ` +
        `in the environment of this process is already ${present}. A process can get tickets ` +
        'with only one keytab: unset one of the two.',
    );
  }
  env.KRB5_CLIENT_KTNAME = keytab;
  env.KRB5CCNAME = TICKET_CACHE;
}
