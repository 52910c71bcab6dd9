import {
  Certificate,
  type CertificateFields,
  Issuer,
  randomSerialNumber,
  REVOCATION_REASONS,
  signingKeyOf,
} from '@directory-gateway/x509';
import { createCaCertificate } from '@directory-gateway/x509/testUtils';
import type {
  CertificateAuthority,
  IssuedCertificate,
  Revocation,
  RevocationRequest,
  SignedCertificate,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { generateKeyPairSync } from 'node:crypto';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Reason code of RFC 5280 §5.3.1. */
const ON_HOLD = REVOCATION_REASONS.certificateHold;

/**
 * Signs every request, like FreeIPA for the gateway's principal: a signed
 * request has passed the gateway's policy.
 */
export class PermissiveAuthority implements CertificateAuthority {
  readonly cacn = 'permissive';
  /** Whether it ignores the serial numbers of requests. */
  choosesSerialNumbers = true;
  /** Fields that replace those of a certificate. */
  fields: Partial<CertificateFields> = {};
  readonly signed: SigningRequest[] = [];
  readonly #issuer = createIssuer();
  readonly #issued = new Map<bigint, IssuedCertificate>();

  async sign(request: SigningRequest): Promise<SignedCertificate> {
    this.signed.push(request);
    const serialNumber = this.choosesSerialNumbers
      ? randomSerialNumber()
      : request.serialNumber;
    const { issuer, chain } = await this.#issuer;
    const der = await issuer.signCertificate({
      ...validity(),
      serialNumber,
      spki: request.publicKey,
      subject: [{ type: 'CN', value: request.username }],
      extensions: {},
      ...this.fields,
    });
    const signed = {
      certificate: new Certificate(der),
      chain: [der, ...chain],
    };
    this.#issued.set(serialNumber, {
      ...signed,
      cacn: this.cacn,
      owners: [request.username],
    });
    return signed;
  }

  async get(serialNumber: bigint): Promise<IssuedCertificate | undefined> {
    return this.#issued.get(serialNumber);
  }

  async hold(serialNumber: bigint): Promise<Revocation | undefined> {
    return this.#update(
      serialNumber,
      state => state ?? { reason: ON_HOLD, revokedAt: new Date() },
    );
  }

  async release(serialNumber: bigint): Promise<Revocation | undefined> {
    return this.#update(serialNumber, state =>
      state?.reason === ON_HOLD ? undefined : state,
    );
  }

  async revoke({
    serialNumber,
    reason,
  }: RevocationRequest): Promise<Revocation | undefined> {
    if (!this.choosesSerialNumbers && !this.#issued.has(serialNumber)) {
      // A request with this serial number may still be signed.
      return { reason: REVOCATION_REASONS[reason] };
    }
    return this.#update(serialNumber, state =>
      state && state.reason !== ON_HOLD
        ? state
        : { reason: REVOCATION_REASONS[reason] },
    );
  }

  #update(
    serialNumber: bigint,
    change: (state: Revocation | undefined) => Revocation | undefined,
  ): Revocation | undefined {
    const issued = this.#issued.get(serialNumber);
    if (!issued) {
      return undefined;
    }
    const revocation = change(issued.revocation);
    this.#issued.set(serialNumber, { ...issued, revocation });
    return revocation;
  }
}

async function createIssuer() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = signingKeyOf(privateKey);
  const certificate = await createCaCertificate({
    ...validity(),
    subject: [{ type: 'CN', value: 'Permissive' }],
    key,
  });
  const issuer = await Issuer.create({ certificate, key });
  return { issuer, chain: [certificate] };
}

function validity(): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now), notAfter: new Date(now + DAY_MS) };
}
