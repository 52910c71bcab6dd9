import {
  Certificate,
  createCaCertificate,
  Issuer,
  randomSerialNumber,
  signingKeyOf,
} from '@directory-gateway/x509';
import type {
  CertificateAuthority,
  IssuedCertificate,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { generateKeyPairSync } from 'node:crypto';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Signs every request, as FreeIPA does for the gateway's principal: what it has
 * signed has passed the gateway's policy.
 */
export class PermissiveAuthority implements CertificateAuthority {
  readonly signed: SigningRequest[] = [];
  readonly #issuer = createIssuer();
  readonly #issued = new Map<bigint, IssuedCertificate>();

  async sign(request: SigningRequest): Promise<IssuedCertificate> {
    this.signed.push(request);
    const serialNumber = randomSerialNumber();
    const issuer = await this.#issuer;
    const certificate = await issuer.signCertificate({
      ...validity(),
      serialNumber,
      spki: request.publicKey,
      subject: [{ type: 'CN', value: request.username }],
      extensions: { basicConstraints: { ca: false } },
    });
    const issued = {
      certificate: new Certificate(certificate),
      chain: [certificate],
      cacn: 'permissive',
      owners: [request.username],
    };
    this.#issued.set(serialNumber, issued);
    return issued;
  }

  async get(serialNumber: bigint): Promise<IssuedCertificate | undefined> {
    return this.#issued.get(serialNumber);
  }
}

async function createIssuer(): Promise<Issuer> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = signingKeyOf(privateKey);
  const certificate = await createCaCertificate({
    ...validity(),
    subject: [{ type: 'CN', value: 'Permissive' }],
    key,
  });
  return Issuer.create({ certificate, key });
}

function validity(): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now), notAfter: new Date(now + DAY_MS) };
}
