import { isError, toError } from '@backstage/errors';
import {
  AuthorityUnavailableError,
  OutcomeUnknownError,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readSecretFile } from '@directory-gateway/secret-files';
import { importJWK, SignJWT } from 'jose';
import { X509Certificate, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { TLSSocket } from 'node:tls';
import { Client, buildConnector } from 'undici';
import { z } from 'zod';
import { checkProvisioner, provisionersSchema } from './checkProvisioner';
import type { StepCaConfig } from './StepCaConfig';

/** Larger than any response of step-ca. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Difference of the clocks that step-ca accepts, in seconds. */
const CLOCK_SKEW_SECONDS = 60;

/** Private key of the provisioner, as `step crypto jwk create` writes it. */
const keySchema = z.looseObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  kid: z.string().min(1),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});

const errorSchema = z.object({ message: z.string() });

/** A complete response with any status. */
export interface StepCaResponse {
  readonly status: number;
  /** The parsed body; `undefined` when it is not JSON. */
  readonly body: unknown;
  /** `message` of an error, for logs and callers; may be empty. */
  readonly message: string;
}

/** An open connection to step-ca. */
export interface StepCaConnection {
  /**
   * The certificate that issued step-ca's own: step-ca signs users'
   * certificates with the same key.
   */
  readonly issuer: X509Certificate | undefined;
  /** @throws AuthorityUnavailableError when there is no complete response. */
  get(path: string): Promise<StepCaResponse>;
  /**
   * Sends a request with a one-time token of the provisioner.
   *
   * @throws AuthorityUnavailableError when there is no key for the token.
   * @throws OutcomeUnknownError when there is no complete response.
   */
  post(options: {
    readonly path: string;
    /** Claims of the token, including `sub`. */
    readonly claims: Readonly<Record<string, unknown>>;
    readonly body: Readonly<Record<string, unknown>>;
  }): Promise<StepCaResponse>;
}

/**
 * Sends requests to step-ca over HTTPS, trusts only the configured root and does
 * not follow redirects. Each use opens a new connection: on a reused one, which
 * the server may close at any time, it is not certain whether a request was
 * received.
 */
export class StepCaClient {
  readonly #config: StepCaConfig;

  constructor(config: StepCaConfig) {
    this.#config = config;
  }

  /**
   * Connects, calls `work` and disconnects.
   *
   * @throws AuthorityUnavailableError when `rootFile` cannot be read.
   */
  async connect<T>(
    work: (connection: StepCaConnection) => Promise<T>,
  ): Promise<T> {
    const { url, rootFile, requestTimeoutMs } = this.#config;
    const ca = await readFile(rootFile, 'utf8').catch(error => {
      throw new AuthorityUnavailableError(toError(error).message);
    });
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) {
      // Without a CA, Node.js would trust its default CAs.
      throw new AuthorityUnavailableError(`${rootFile} has no certificate`);
    }
    let issuer: X509Certificate | undefined;
    const connect = buildConnector({
      ca,
      timeout: requestTimeoutMs,
      // A resumed session does not have the certificates of the server.
      maxCachedSessions: 0,
    });
    const client = new Client(url, {
      maxResponseSize: MAX_RESPONSE_BYTES,
      // The signal sets the deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) =>
        connect(options, (...[error, socket]) => {
          if (socket instanceof TLSSocket) {
            const raw = socket.getPeerCertificate(true).issuerCertificate?.raw;
            issuer = raw && new X509Certificate(raw);
          }
          return error ? callback(error, null) : callback(null, socket!);
        }),
    });
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const send = async (
      method: 'GET' | 'POST',
      path: string,
      body?: object,
    ) => {
      const response = await client.request({
        method,
        path,
        signal,
        headers: { 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      });
      return readResponse(response.statusCode, await response.body.text());
    };
    try {
      return await work({
        get issuer() {
          return issuer;
        },
        async get(path) {
          try {
            return await send('GET', path);
          } catch (error) {
            throw new AuthorityUnavailableError(describe(error));
          }
        },
        post: async ({ path, claims, body }) => {
          const ott = await this.#createToken(path, claims);
          try {
            return await send('POST', path, { ...body, ott });
          } catch (error) {
            throw new OutcomeUnknownError(describe(error));
          }
        },
      });
    } finally {
      await client.destroy();
    }
  }

  /**
   * Returns what makes the provisioner of the gateway unsafe; empty when
   * certificates can be signed.
   *
   * @throws AuthorityUnavailableError when step-ca does not respond.
   */
  async check(connection: StepCaConnection): Promise<readonly string[]> {
    const { provisioner: name, profiles } = this.#config;
    const response = await connection.get('/provisioners?limit=100');
    const parsed = provisionersSchema.safeParse(response.body);
    if (response.status !== 200 || !parsed.success) {
      throw new AuthorityUnavailableError(
        `GET /provisioners returned status ${response.status} or an invalid body`,
      );
    }
    const { kid } = await this.#readKey();
    return checkProvisioner(parsed.data, { name, kid, profiles });
  }

  /** step-ca accepts each token, identified by `jti`, once. */
  async #createToken(
    path: string,
    claims: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const { url, provisioner, requestTimeoutMs } = this.#config;
    const jwk = await this.#readKey();
    const now = Math.floor(Date.now() / 1000);
    return await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: jwk.kid, typ: 'JWT' })
      .setIssuer(provisioner)
      .setAudience(`${url}${path}`)
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(
        now + Math.ceil(requestTimeoutMs / 1000) + CLOCK_SKEW_SECONDS,
      )
      .setJti(randomUUID())
      .sign(await importJWK(jwk, 'ES256'));
  }

  /** @throws AuthorityUnavailableError when the key cannot be used. */
  async #readKey(): Promise<z.infer<typeof keySchema>> {
    const { provisionerKeyFile } = this.#config;
    try {
      const text = (await readSecretFile(provisionerKeyFile)).toString();
      return keySchema.parse(JSON.parse(text));
    } catch (error) {
      // Messages of JSON.parse contain the text.
      const reason =
        error instanceof SyntaxError || error instanceof z.ZodError
          ? `${provisionerKeyFile} is not a private JWK of the curve P-256 with a kid`
          : toError(error).message;
      throw new AuthorityUnavailableError(reason);
    }
  }
}

function readResponse(status: number, text: string): StepCaResponse {
  try {
    const body: unknown = JSON.parse(text);
    return {
      status,
      body,
      message: errorSchema.safeParse(body).data?.message ?? '',
    };
  } catch {
    return { status, body: undefined, message: '' };
  }
}

/** Returns the cause's message for errors such as `fetch failed`. */
function describe(error: unknown): string {
  const { message, cause } = toError(error);
  return isError(cause) && cause.message !== '' ? cause.message : message;
}
