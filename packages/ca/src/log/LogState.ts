import type { IssuerId } from '../CertificateSigner';
import type {
  ListedRevocation,
  LogEntry,
  RevocationListEntry,
} from './logLines';

/** Location of a line. */
export interface LinePlace {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  /** SHA-256 of the line, lowercase hex. */
  readonly sha256: string;
}

/** A certificate in the log. */
export interface CertificatePlace extends LinePlace {
  /** Last second of validity. */
  readonly notAfter: Date;
}

/** A CRL entry. */
export interface CrlEntry extends ListedRevocation {
  /**
   * Whether the last CRL contains the entry. CRLs omit expired certificates.
   */
  readonly isListed: boolean;
}

/** The CRLs of a CA. */
export interface CrlState {
  /** Number of the last CRL; 0 before the first CRL. */
  readonly number: bigint;
  /** By serial number in decimal; a hold that was released has no entry. */
  readonly entries: ReadonlyMap<string, CrlEntry>;
}

const NO_CRL: CrlState = { number: 0n, entries: new Map() };

/** State that results from the lines of the log. */
export class LogState {
  readonly #certificates = new Map<string, CertificatePlace>();
  readonly #crls = new Map<
    IssuerId,
    { number: bigint; entries: Map<string, CrlEntry> }
  >();
  readonly #blockedKeys = new Set<string>();
  /** Times at which recent certificates were signed, sorted. */
  readonly #times = new Array<number>();

  /** Adds entries, which can be from several files. */
  add(entries: readonly { entry: LogEntry; place: LinePlace }[]): void {
    const crls = new Array<RevocationListEntry>();
    for (const { entry, place } of entries) {
      switch (entry.kind) {
        case 'certificate': {
          const { serialNumber, notAfter } = entry.request;
          this.#certificates.set(String(serialNumber), { ...place, notAfter });
          this.#addTime(entry.time.getTime());
          break;
        }
        case 'block':
          this.#blockedKeys.add(entry.publicKeySha256);
          break;
        case 'crl':
          crls.push(entry);
          break;
        default:
      }
    }
    // Files are read one by one, but CRLs of two processes can alternate.
    crls.sort((a, b) => (a.number < b.number ? -1 : 1));
    crls.forEach(crl => this.#addCrl(crl));
  }

  findCertificate(serialNumber: bigint): CertificatePlace | undefined {
    return this.#certificates.get(String(serialNumber));
  }

  isBlocked(publicKeySha256: string): boolean {
    return this.#blockedKeys.has(publicKeySha256);
  }

  crlOf(issuerId: IssuerId): CrlState {
    return this.#crls.get(issuerId) ?? NO_CRL;
  }

  /**
   * Returns the number of certificates that were signed after a time, which must
   * not be earlier than that of the previous call.
   */
  countSince(time: number): number {
    const counted = this.#times.findIndex(signedAt => signedAt > time);
    this.#times.splice(0, counted < 0 ? this.#times.length : counted);
    return this.#times.length;
  }

  /** Inserts a time in order: several processes can append concurrently. */
  #addTime(time: number): void {
    const index = this.#times.findLastIndex(earlier => earlier <= time);
    this.#times.splice(index + 1, 0, time);
  }

  #addCrl({ issuerId, number, added, removed }: RevocationListEntry): void {
    const crl = this.#crls.get(issuerId) ?? { number: 0n, entries: new Map() };
    this.#crls.set(issuerId, crl);
    for (const serialNumber of removed.map(String)) {
      const entry = crl.entries.get(serialNumber);
      if (entry?.reason === 'certificateHold') {
        crl.entries.delete(serialNumber);
      } else if (entry) {
        crl.entries.set(serialNumber, { ...entry, isListed: false });
      }
    }
    for (const entry of added) {
      const serialNumber = String(entry.serialNumber);
      crl.entries.set(serialNumber, { ...entry, isListed: true });
    }
    crl.number = number > crl.number ? number : crl.number;
  }
}
