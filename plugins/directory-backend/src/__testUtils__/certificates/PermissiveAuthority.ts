import {
  Certificate,
  createCaCertificate,
  Issuer,
  randomSerialNumber,
  signingKeyOf,
} from '@directory-gateway/x509';
import type {
  CertificateAuthority,
  HoldRequest,
  IssuedCertificate,
  ReleaseRequest,
  RevocableReason,
  RevocationRequest,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { generateKeyPairSync } from 'node:crypto';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Reason codes of RFC 5280 §5.3.1. */
const ON_HOLD = 6;

const REASON_CODES = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
} as const satisfies Record<RevocableReason, number>;

/**
 * Signs every request, like FreeIPA for the gateway's principal: a signed
 * request has passed the gateway's policy.
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

  async hold({
    serialNumber,
  }: HoldRequest): Promise<IssuedCertificate | undefined> {
    return this.#update(serialNumber, issued =>
      issued.revocation
        ? issued
        : { ...issued, revocation: { reason: ON_HOLD, revokedAt: new Date() } },
    );
  }

  async release({
    serialNumber,
  }: ReleaseRequest): Promise<IssuedCertificate | undefined> {
    return this.#update(serialNumber, issued =>
      issued.revocation?.reason === ON_HOLD
        ? { ...issued, revocation: undefined }
        : issued,
    );
  }

  async revoke({
    serialNumber,
    reason,
  }: RevocationRequest): Promise<IssuedCertificate | undefined> {
    return this.#update(serialNumber, issued =>
      issued.revocation && issued.revocation.reason !== ON_HOLD
        ? issued
        : { ...issued, revocation: { reason: REASON_CODES[reason] } },
    );
  }

  async blockKey(): Promise<void> {}

  #update(
    serialNumber: bigint,
    change: (issued: IssuedCertificate) => IssuedCertificate,
  ): IssuedCertificate | undefined {
    const issued = this.#issued.get(serialNumber);
    const changed = issued && change(issued);
    if (changed) {
      this.#issued.set(serialNumber, changed);
    }
    return changed;
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
