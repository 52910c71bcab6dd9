import { toError } from '@backstage/errors';
import {
  AuthorityUnavailableError,
  OutcomeUnknownError,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readSecretFile } from '@directory-gateway/secret-files';
import { importJWK, type JWK, SignJWT } from 'jose';
import { X509Certificate, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { TLSSocket } from 'node:tls';
import { Client, buildConnector } from 'undici';
import { checkProvisioner } from './checkProvisioner';
import type { StepCaConfig } from './StepCaConfig';

/** Includes a difference of the clocks. */
const TOKEN_LIFETIME_SECONDS = 120;

/** A complete response with any status. */
export interface StepCaResponse {
  readonly status: number;
  /** The parsed body; empty when it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** An open connection to step-ca. */
export interface StepCaConnection {
  /** Returns the issuer of step-ca's own certificate and those of users. */
  getIssuer(): X509Certificate | undefined;
  /** @throws AuthorityUnavailableError when the response is not complete. */
  get(path: string): Promise<StepCaResponse>;
  /**
   * Sends a request with a one-time token of the provisioner.
   *
   * @param claims - claims of the token, including `sub`
   * @throws AuthorityUnavailableError when the key for the token is missing.
   * @throws OutcomeUnknownError when the response is not complete.
   */
  post(path: string, body: object, claims: object): Promise<StepCaResponse>;
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
    const ca = await readFile(rootFile, 'utf8').catch(() => '');
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) {
      // Without a CA, Node.js would trust its default CAs.
      throw new AuthorityUnavailableError(
        `${rootFile} cannot be read or does not contain a certificate`,
      );
    }
    let issuer: X509Certificate | undefined;
    // A resumed session does not have the certificates of the server.
    const connect = buildConnector({
      ca,
      maxCachedSessions: 0,
      // The signal of a request does not end a TLS handshake.
      timeout: requestTimeoutMs,
    });
    const client = new Client(url, {
      maxResponseSize: 1024 * 1024,
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
        body: body && JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
      const text = await response.body.text();
      return { status: response.statusCode, body: parseObject(text) };
    };
    try {
      return await work({
        getIssuer: () => issuer,
        get: async path =>
          await send('GET', path).catch(error => {
            throw new AuthorityUnavailableError(toError(error).message);
          }),
        post: async (path, body, claims) => {
          const ott = await this.#createToken(path, claims);
          return await send('POST', path, { ...body, ott }).catch(error => {
            throw new OutcomeUnknownError(toError(error).message);
          });
        },
      });
    } finally {
      await client.destroy();
    }
  }

  /**
   * Returns what makes the provisioner of the gateway unsafe; `undefined` when
   * certificates can be signed.
   *
   * @throws AuthorityUnavailableError when step-ca does not respond.
   */
  async check(connection: StepCaConnection): Promise<string | undefined> {
    const { kid } = await this.#readKey();
    const { status, body } = await connection.get('/provisioners?limit=100');
    if (status !== 200 || !Array.isArray(body.provisioners)) {
      throw new AuthorityUnavailableError(
        `GET /provisioners returned status ${status} or an invalid body`,
      );
    }
    const problems = checkProvisioner(body.provisioners, kid, this.#config);
    return problems.length > 0
      ? `The provisioner in step-ca is not safe: ${problems.join('. ')}`
      : undefined;
  }

  /** step-ca accepts each token, identified by `jti`, once. */
  async #createToken(path: string, claims: object): Promise<string> {
    const { url, provisioner } = this.#config;
    const jwk = await this.#readKey();
    const now = Math.floor(Date.now() / 1000);
    return await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: jwk.kid, typ: 'JWT' })
      .setIssuer(provisioner)
      .setAudience(`${url}${path}`)
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + TOKEN_LIFETIME_SECONDS)
      .setJti(randomUUID())
      .sign(await importJWK(jwk, 'ES256'));
  }

  /** @throws AuthorityUnavailableError when the key cannot be used. */
  async #readKey(): Promise<JWK & { readonly kid: string }> {
    const { provisionerKeyFile } = this.#config;
    const text = await readSecretFile(provisionerKeyFile).catch(error => {
      throw new AuthorityUnavailableError(toError(error).message);
    });
    const { kid, ...jwk } = parseObject(text.toString());
    if (typeof kid !== 'string' || jwk.crv !== 'P-256' || !jwk.d) {
      throw new AuthorityUnavailableError(
        `${provisionerKeyFile} is not a private JWK of the curve P-256 with a kid`,
      );
    }
    return { ...jwk, kty: 'EC', kid };
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
