import {
  GSS_MECH_OID_SPNEGO,
  initializeClient,
  type KerberosClient,
} from 'kerberos';
import type { HttpsAnswer } from '../rpc/HttpsClient';
import type { FreeIpaServer } from '../rpc/FreeIpaServer';
import { NoVerdictError } from '../rpc/NoVerdictError';
import { claimClientEnvironment } from './claimClientEnvironment';
import type { Login } from '../rpc/Login';
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
      throw new NoVerdictError('there is no Kerberos ticket for it', {
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
  readonly answer: HttpsAnswer;
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
    throw new NoVerdictError("its Kerberos reply is not the server's", {
      server: server.origin,
      executed: 'no',
      fault: 'protocol',
      cause: error,
    });
  }
}
