import {
  Issuer,
  readCertificateRequest,
  signingKeyOf,
  writePem,
} from '@directory-gateway/x509';
import { decodeJwt, importJWK, type JWK, jwtVerify } from 'jose';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import recorded from '../__fixtures__/step-ca-0.19.json';
import type { StepCaResponse } from '../StepCaClient';
import type { Case } from './cases';
import { provisionerOf } from './settings';
import { StepCaFiles } from './StepCaFiles';

/** The claims that the gateway sends. */
interface Claims {
  readonly sub: string;
  readonly jti: string;
  readonly sans: readonly string[];
  readonly certificate: {
    readonly serialNumber: string;
    readonly profile: string;
    readonly emails: readonly string[];
    readonly userPrincipalNames: readonly string[];
  };
}

/** Fields of a certificate that a faulty step-ca changes. */
type Change = Partial<Parameters<Issuer['signCertificate']>[0]>;

/**
 * An HTTPS server that behaves like step-ca with the gateway's provisioner and
 * returns its recorded responses; `make trials` compares them with step-ca.
 */
export class FakeStepCa {
  readonly files: StepCaFiles;
  /** What `GET /provisioners` returns. */
  provisioner: Awaited<ReturnType<typeof provisionerOf>> &
    Record<string, unknown>;
  /** Requests of methods and paths, in order. */
  readonly requests = new Array<string>();
  /** Serial numbers of signed certificates. */
  readonly signed = new Set<string>();
  /** Reason codes by serial number. */
  readonly revoked = new Map<string, number>();
  /** Replaces fields of the next certificates. Default: none. */
  change: Change = {};
  /** Handles the next request for a path instead of this server. */
  intercept:
    ((req: IncomingMessage, res: ServerResponse) => boolean) | undefined;
  readonly #tokens = new Set<string>();
  readonly #issuer: Issuer;
  readonly #server: Server;
  #port = 0;

  /** @param options - those of {@link StepCaFiles.create} */
  static async start(
    options: Parameters<typeof StepCaFiles.create>[0] = {},
  ): Promise<FakeStepCa> {
    const files = await StepCaFiles.create(options);
    const { certificate, key } = await files.intermediate();
    const fake = new FakeStepCa({
      files,
      issuer: Issuer.create({ certificate, key: signingKeyOf(key) }),
      server: createServer(await files.serverIdentity()),
      provisioner: await provisionerOf(files),
    });
    await fake.resume();
    return fake;
  }

  private constructor(options: {
    readonly files: StepCaFiles;
    readonly issuer: Issuer;
    readonly server: Server;
    readonly provisioner: Awaited<ReturnType<typeof provisionerOf>>;
  }) {
    this.files = options.files;
    this.provisioner = options.provisioner;
    this.#issuer = options.issuer;
    this.#server = options.server.on('request', (req, res) => {
      this.#serve(req, res).catch(error => res.destroy(error));
    });
  }

  get url(): string {
    return `https://localhost:${this.#port}`;
  }

  /** Restores the documented provisioner and forgets all requests. */
  async reset(): Promise<void> {
    await this.files.createProvisionerKey();
    this.provisioner = await provisionerOf(this.files);
    this.requests.length = 0;
    this.signed.clear();
    this.revoked.clear();
    this.change = {};
    this.intercept = undefined;
  }

  /** Starts to listen; after {@link pause}, on the same port as before. */
  async resume(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async pause(): Promise<void> {
    if (this.#server.listening) {
      this.#server.close();
      this.#server.closeAllConnections();
      await once(this.#server, 'close');
    }
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.files.remove();
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.requests.push(`${req.method} ${req.url}`);
    if (this.intercept?.(req, res)) {
      return;
    }
    const { status, body } = await this.#respond(req);
    res
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));
  }

  async #respond(req: IncomingMessage): Promise<StepCaResponse> {
    switch (`${req.method} ${req.url}`) {
      case 'GET /health':
        return { status: 200, body: { status: 'ok' } };
      case 'GET /provisioners?limit=100':
        return {
          status: 200,
          body: { provisioners: [this.provisioner], nextCursor: '' },
        };
      case 'POST /1.0/sign':
        return await this.#sign(req);
      case 'POST /1.0/revoke':
        return await this.#revoke(req);
      default:
        return responseOf('unknown path');
    }
  }

  /** Returns the claims of a token that was not used before. */
  async #verify(token: string, path: string): Promise<Claims | undefined> {
    const { kid, ...key } = this.provisioner.key;
    const { payload, protectedHeader } = await jwtVerify<Claims>(
      token,
      await importJWK(key as JWK, 'ES256'),
      { issuer: this.provisioner.name, audience: `${this.url}${path}` },
    );
    if (protectedHeader.kid !== kid || this.#tokens.has(payload.jti)) {
      return undefined;
    }
    this.#tokens.add(payload.jti);
    return payload;
  }

  async #sign(req: IncomingMessage): Promise<StepCaResponse> {
    const body = (await json(req)) as Record<string, string>;
    const parsed = readCertificateRequest(body.csr);
    if (!parsed.ok) {
      return responseOf('malformed CSR');
    }
    const claims = await this.#verify(body.ott, '/1.0/sign').catch(() => {});
    if (!claims) {
      return responseOf('unknown provisioner');
    }
    const { csr } = parsed;
    const requested = csr.alternativeNames.flatMap(name =>
      name.kind === 'rfc822Name' ? [name.value] : [],
    );
    if (
      csr.subject.commonNames[0] !== claims.sub ||
      (requested.length > 0 && requested.join() !== claims.sans.join())
    ) {
      return responseOf('CSR of another user');
    }
    const { serialNumber, profile, emails, userPrincipalNames } =
      claims.certificate;
    const { realm, domains, profiles } =
      this.provisioner.options.x509.templateData.directory;
    const usages = (profiles as Record<string, string[]>)[profile];
    if (!usages) {
      return responseOf('unknown profile');
    }
    if (
      !emails.every(email => domains.includes(email.split('@')[1])) ||
      !userPrincipalNames.every(name => name.endsWith(`@${realm}`))
    ) {
      return responseOf('unknown SAN');
    }
    const notBefore = new Date(Date.now() - 60_000);
    const notAfter = new Date(body.notAfter ?? Date.now() + 86_400_000);
    if (!(notAfter.getTime() < Date.now() + 168 * 3_600_000 + 60_000)) {
      return responseOf('too long');
    }
    const alternativeNames = [
      ...userPrincipalNames.map(value => ({
        kind: 'userPrincipalName' as const,
        value,
      })),
      ...emails.map(value => ({ kind: 'rfc822Name' as const, value })),
    ];
    const { change } = this;
    const der = await this.#issuer.signCertificate({
      serialNumber: BigInt(serialNumber),
      subject: [{ type: 'CN', value: claims.sub }],
      notBefore,
      notAfter,
      spki: csr.publicKey.spki,
      ...change,
      extensions: {
        keyUsage: ['digitalSignature'],
        extendedKeyUsage: usages.map(usage =>
          usage === 'clientAuth' ? '1.3.6.1.5.5.7.3.2' : usage,
        ),
        ...(alternativeNames.length > 0 ? { alternativeNames } : {}),
        ...change.extensions,
      },
    });
    this.signed.add((change.serialNumber ?? serialNumber).toString());
    const issuer = await this.files.read('intermediate.pem');
    const crt = writePem('CERTIFICATE', der);
    return {
      status: 201,
      body: { crt, ca: issuer, certChain: [crt, issuer] },
    };
  }

  async #revoke(req: IncomingMessage): Promise<StepCaResponse> {
    const body = (await json(req)) as Record<string, string>;
    const claims = await this.#verify(body.ott, '/1.0/revoke').catch(() => {});
    if (!claims || decodeJwt(body.ott).sub !== body.serial) {
      return responseOf('unknown provisioner');
    }
    if (this.revoked.has(body.serial)) {
      return responseOf('already revoked');
    }
    this.revoked.set(body.serial, Number(body.reasonCode));
    return responseOf('revoked');
  }
}

function responseOf(name: Case): StepCaResponse {
  return recorded.responses[name];
}
