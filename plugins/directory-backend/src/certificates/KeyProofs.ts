import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import {
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import type { SecretKeys } from '../secretKeys';
import type {
  CertificateRecord,
  CertificateRecords,
} from './CertificateRecords';
import { KeyProofRefusedError, orUnavailable } from './errors';

const TABLE = 'directory_used_nonces';

/** Purpose of the keys for nonces. */
export const NONCE_KEYS = 'directory certificate nonce';

/** Lifetime of a nonce. */
const LIFETIME_MS = 5 * 60_000;

/** Maximum clock difference of Backstage instances. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/** Number of bytes of the expiry in a nonce, in milliseconds since 1970. */
const EXPIRY_BYTES = 6;

/** Number of bytes of the expiry and 16 random bytes. */
const PAYLOAD_BYTES = EXPIRY_BYTES + 16;

/** Length of the longest signature in Base64: RSA with 8192 bits. */
const MAX_SIGNATURE_LENGTH = 1368;

const NONCE = /^([\w-]{12})\.([\w-]{30})\.([\w-]{43})$/;

/** A proof that the caller has the private key of a certificate. */
export interface KeyProof {
  readonly serialNumber: bigint;
  /** The only operation for which the proof is valid. */
  readonly purpose: 'renewal' | 'revocation';
  /**
   * Content of the request, on one line. The proof is valid only for this
   * content.
   */
  readonly subject: string;
  readonly nonce: string;
  /** Signature of {@link signedText} in Base64. */
  readonly signature: string;
}

/** Returns the text that the caller signs with the key of the certificate. */
export function signedText(
  proof: Pick<KeyProof, 'purpose' | 'nonce' | 'subject'>,
): Buffer {
  return Buffer.from(
    `directory-gateway ${proof.purpose}\n${proof.nonce}\n${proof.subject}`,
  );
}

/**
 * Verifies proofs of possession by callers without other credentials. Only used
 * nonces are stored: a nonce contains its expiry and a MAC over the expiry and
 * the serial number.
 *
 * A request from an unauthenticated caller costs one query by primary key and
 * one signature verification, whether or not the certificate exists.
 */
export class KeyProofs {
  readonly #options: {
    readonly database: Database;
    readonly keys: SecretKeys;
    readonly records: Pick<CertificateRecords, 'get'>;
  };
  /** Key for verifying signatures for certificates that do not exist. */
  readonly #noKey = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  }).publicKey.export({ type: 'spki', format: 'der' });

  constructor(options: {
    readonly database: Database;
    readonly keys: SecretKeys;
    readonly records: Pick<CertificateRecords, 'get'>;
  }) {
    this.#options = options;
  }

  /** Creates a nonce for any serial number, whether or not it exists. */
  createNonce(serialNumber: bigint): {
    readonly nonce: string;
    readonly expiresAt: Date;
  } {
    const expiresAt = Date.now() + LIFETIME_MS;
    const payload = randomBytes(PAYLOAD_BYTES);
    payload.writeUIntBE(expiresAt, 0, EXPIRY_BYTES);
    const text = payload.toString('base64url');
    const { id } = this.#options.keys.current;
    const code = this.#authenticate(id, { text, serialNumber })!;
    return {
      nonce: `${id}.${text}.${code.toString('base64url')}`,
      expiresAt: new Date(expiresAt),
    };
  }

  /**
   * Verifies a nonce without the database, before other work.
   *
   * @returns the expiry in milliseconds since 1970
   * @throws KeyProofRefusedError when the nonce is invalid or has expired.
   */
  requireNonce(proof: Pick<KeyProof, 'nonce' | 'serialNumber'>): number {
    const expiresAt = this.#expiryOf(proof);
    if (expiresAt === undefined || expiresAt < Date.now()) {
      throw new KeyProofRefusedError();
    }
    return expiresAt;
  }

  /**
   * Verifies a proof. It cannot be used again.
   *
   * @returns the record of the certificate, which may be expired or revoked
   * @throws KeyProofRefusedError when the proof is invalid or was used.
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async accept(proof: KeyProof): Promise<CertificateRecord> {
    const expiresAt = this.requireNonce(proof);
    const record = await this.#options.records.get(proof.serialNumber);
    const isSigned = hasSigned(record?.publicKey ?? this.#noKey, proof);
    if (!record || !isSigned) {
      throw new KeyProofRefusedError();
    }
    await this.#use(proof.nonce, new Date(expiresAt));
    return record;
  }

  /**
   * Returns the expiry; `undefined` for a nonce that the gateway did not create
   * or that belongs to another certificate.
   */
  #expiryOf({
    nonce,
    serialNumber,
  }: Pick<KeyProof, 'nonce' | 'serialNumber'>): number | undefined {
    const [, id, text, code] = NONCE.exec(nonce) ?? [];
    const expected =
      text !== undefined && this.#authenticate(id, { text, serialNumber });
    return expected && timingSafeEqual(expected, Buffer.from(code, 'base64url'))
      ? Buffer.from(text, 'base64url').readUIntBE(0, EXPIRY_BYTES)
      : undefined;
  }

  /** Returns the authentication code; `undefined` when the key is unknown. */
  #authenticate(
    id: string,
    { text, serialNumber }: { text: string; serialNumber: bigint },
  ): Buffer | undefined {
    const key = this.#options.keys.find(id);
    return (
      key &&
      createHmac('sha256', key).update(`${serialNumber}.${text}`).digest()
    );
  }

  /** Records that a nonce was used. Only valid proofs write to the database. */
  async #use(nonce: string, expiresAt: Date): Promise<void> {
    const { database } = this.#options;
    const digest = createHash('sha256').update(nonce).digest('hex');
    const used: readonly unknown[] = await orUnavailable(async () => {
      await database(TABLE)
        .where('expires_at', '<', new Date(Date.now() - CLOCK_MARGIN_MS))
        .delete();
      return await database(TABLE)
        .insert({ nonce_sha256: digest, expires_at: expiresAt })
        .onConflict()
        .ignore()
        .returning('nonce_sha256');
    });
    if (used.length === 0) {
      throw new KeyProofRefusedError();
    }
  }
}

/** Verifies ECDSA and RSA (PKCS #1 v1.5) with SHA-256, and Ed25519. */
function hasSigned(publicKey: Buffer, proof: KeyProof): boolean {
  if (proof.signature.length > MAX_SIGNATURE_LENGTH) {
    return false;
  }
  try {
    const key = createPublicKey({
      key: publicKey,
      format: 'der',
      type: 'spki',
    });
    const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    const signature = Buffer.from(proof.signature, 'base64');
    return verify(digest, signedText(proof), key, signature);
  } catch {
    return false;
  }
}
