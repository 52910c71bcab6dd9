import { readSecretFile } from '@directory-gateway/secret-files';
import { GSS_MECH_OID_SPNEGO, initializeClient } from 'kerberos';
import { FreeIpaError } from './errors';
import type { FreeIpaLoginConfig } from './FreeIpaConfig';
import type { HttpsRequest, HttpsResponse } from './HttpsClient';

/** Tickets are kept in the process; nothing is written to disk. */
const TICKET_CACHE = 'MEMORY:directory-freeipa-ca';

/**
 * Time for which a rejected password is not sent again. By default, FreeIPA
 * forgets a failed login after a minute, so a wrong password does not lock the
 * account.
 */
const REJECTED_PASSWORD_CACHE_MS = 2 * 60 * 1000;

/** Sends a request to a path below `/ipa/session/`. */
type Post = (path: string, request: HttpsRequest) => Promise<HttpsResponse>;

/**
 * Logs in to a server, before a command runs.
 *
 * @param server - origin of the server
 * @returns the session, as a value of the `Cookie` header
 * @throws FreeIpaError with `executed: 'no'` when the login fails.
 */
export type Login = (server: string, post: Post) => Promise<string>;

/**
 * Returns how the gateway's account logs in.
 *
 * @throws Error when the process already uses another client keytab.
 */
export function createLogin({
  kind,
  account,
  file,
}: FreeIpaLoginConfig): Login {
  if (kind === 'kerberos' && file !== undefined) {
    claimClientEnvironment({ keytab: file });
  }
  const logIn =
    kind === 'kerberos'
      ? createTicketLogin(account)
      : createPasswordLogin(account, file!);
  return async (server, post) => {
    try {
      return await logIn(server, post);
    } catch (error) {
      if (error instanceof FreeIpaError) {
        error.executed = 'no';
      }
      throw error;
    }
  };
}

/** Logs in with a Kerberos ticket (SPNEGO, RFC 4559). */
function createTicketLogin(principal: string): Login {
  return async (server, post) => {
    const { client, token } = await startContext(server, principal);
    const headers = { Authorization: `Negotiate ${token}` };
    const response = await post('login_kerberos', { headers, body: '' });
    const session = readSession(server, response);
    // The server's token, if there is one: mutual authentication.
    const challenge = response.headers.get('www-authenticate') ?? '';
    const reply = /^Negotiate\s+([A-Za-z0-9+/=]+)$/i.exec(challenge)?.[1];
    try {
      await (reply && client.step(reply));
    } catch (cause) {
      const text = 'the Kerberos token of the server is invalid';
      throw new FreeIpaError(text, { server, fault: 'protocol', cause });
    }
    return session;
  };
}

async function startContext(server: string, principal: string) {
  try {
    const client = await initializeClient(`HTTP@${new URL(server).hostname}`, {
      principal,
      mechOID: GSS_MECH_OID_SPNEGO,
    });
    return { client, token: await client.step('') };
  } catch (cause) {
    const text = 'no Kerberos ticket for the server';
    throw new FreeIpaError(text, { server, fault: 'unavailable', cause });
  }
}

/** Logs in with a user name and a password, which is read for each login. */
function createPasswordLogin(user: string, file: string): Login {
  let rejected = { password: '', reason: '', until: 0 };
  return async (server, post) => {
    const reject = (text: string, cause?: unknown) =>
      new FreeIpaError(text, { server, fault: 'credentials', cause });
    const bytes = await readSecretFile(file).catch(error => {
      throw reject('the password file cannot be read', error);
    });
    const password = bytes.toString('utf8').replace(/\r?\n$/, '');
    if (rejected.password === password && Date.now() < rejected.until) {
      throw reject(`the login was rejected before: ${rejected.reason}`);
    }
    const response = await post('login_password', {
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/plain',
      },
      body: new URLSearchParams({ user, password }).toString(),
    });
    // For example `invalid-password`, `password-expired` or `user-locked`.
    const reason = response.headers.get('x-ipa-rejection-reason');
    if (response.status === 401 && reason !== null) {
      const until = Date.now() + REJECTED_PASSWORD_CACHE_MS;
      rejected = { password, reason, until };
      throw reject(`FreeIPA rejects the gateway's login: ${reason}`);
    }
    return readSession(server, response);
  };
}

/** Reads the session in a response: `ipa_session=MagBearerToken=…`. */
function readSession(
  server: string,
  { status, headers }: HttpsResponse,
): string {
  if (status !== 200) {
    const reason = headers.get('x-ipa-rejection-reason') ?? 'no reason given';
    throw new FreeIpaError(`login failed with status ${status} (${reason})`, {
      server,
      // Another server may accept the ticket.
      fault: status === 401 || status >= 500 ? 'unavailable' : 'protocol',
    });
  }
  const session = headers
    .getSetCookie()
    .map(cookie => cookie.split(';', 1)[0].trim())
    .find(cookie => /^ipa_session=./.test(cookie));
  if (session === undefined) {
    const text = 'the login response has no session cookie';
    throw new FreeIpaError(text, { server, fault: 'protocol' });
  }
  return session;
}

/**
 * Sets the keytab with which the Kerberos library of this process gets tickets.
 * The library reads it only from the environment: with `KRB5_CLIENT_KTNAME`, it
 * gets a ticket when one is needed, renews it after half of its lifetime, and
 * keeps it in the cache `KRB5CCNAME` (MIT Kerberos, "Default client keytab"). An
 * inherited cache is not used, because it may have tickets of another principal.
 *
 * The library's threads read the environment: it is therefore set once, before
 * the first login. The keytab for accepting tickets, `KRB5_KTNAME`, stays.
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
