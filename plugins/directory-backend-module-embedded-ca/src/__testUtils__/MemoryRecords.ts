import {
  AuthorityUnavailableError,
  type RevocationRecords,
  type RevokedCertificate,
  type SignedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createHash, X509Certificate } from 'node:crypto';

const ON_HOLD = 6;

/** A certificate on record; `revoked` without `notAfter`: it was imported. */
interface Row {
  readonly issuer: string;
  readonly notAfter?: Date;
  revoked?: RevokedCertificate;
}

/** The gateway's records in memory, which can be copied as a backup. */
export class MemoryRecords implements RevocationRecords {
  /** Whether the database responds. */
  isAvailable = true;
  #map = new Map<bigint, Row>();

  get #rows(): Map<bigint, Row> {
    if (!this.isAvailable) {
      throw new AuthorityUnavailableError('The database is not available');
    }
    return this.#map;
  }

  /** Records a certificate as the gateway does. */
  add({ chain }: SignedCertificate): bigint {
    const [leaf, issuer] = chain.map(der => new X509Certificate(der));
    const serialNumber = BigInt(`0x${leaf.serialNumber}`);
    const spki = issuer.publicKey.export({ type: 'spki', format: 'der' });
    this.#rows.set(serialNumber, {
      issuer: createHash('sha256').update(spki).digest('hex'),
      notAfter: leaf.validToDate,
    });
    return serialNumber;
  }

  /** Returns a function that restores the present rows. */
  backUp(): () => void {
    const rows = [...this.#rows].map(
      ([key, row]) => [key, { ...row }] as const,
    );
    return () => {
      this.#map = new Map(rows);
    };
  }

  async findIssuer(serialNumber: bigint) {
    return this.#rows.get(serialNumber);
  }

  async set(
    serialNumber: bigint,
    _issuer: string,
    revocation: Omit<RevokedCertificate, 'serialNumber'> | undefined,
  ) {
    const row = this.#rows.get(serialNumber);
    if (!row) {
      return undefined;
    }
    const { revoked } = row;
    if (!revocation && revoked?.reason === ON_HOLD) {
      row.revoked = undefined;
    } else if (revocation && (!revoked || revoked.reason === ON_HOLD)) {
      const revokedAt = revoked?.revokedAt ?? revocation.revokedAt;
      row.revoked = { ...revocation, serialNumber, revokedAt };
    }
    return row.revoked;
  }

  async list(
    issuer: string,
    { notExpiredAt }: { readonly notExpiredAt: Date },
  ): Promise<readonly RevokedCertificate[]> {
    return [...this.#rows.values()].flatMap(row =>
      row.issuer === issuer &&
      row.revoked &&
      !(row.notAfter && row.notAfter < notExpiredAt)
        ? [row.revoked]
        : [],
    );
  }

  async import(
    issuer: string,
    revoked: readonly RevokedCertificate[],
  ): Promise<number> {
    const missing = revoked.filter(
      ({ serialNumber }) => !this.#rows.get(serialNumber)?.revoked,
    );
    for (const entry of missing) {
      const { notAfter } = this.#rows.get(entry.serialNumber) ?? {};
      this.#rows.set(entry.serialNumber, { issuer, notAfter, revoked: entry });
    }
    return missing.length;
  }
}
