import type { LoggerService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import {
  AuthorityUnavailableError,
  type RevocationRecords,
  type RevokedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type Issuer,
  type ReadRevocationList,
  REVOCATION_REASONS,
} from '@directory-gateway/x509';
import { metrics } from '@opentelemetry/api';
import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CaIssuer } from './CaIssuer';
import { backdated } from './composeCertificate';
import type { RecordedCrl, RecordedIssuers } from './RecordedIssuers';

/** An attempt fails when another process has recorded a CRL in the meantime. */
const MAX_ATTEMPTS = 20;

/** A UUID: the end of a temporary file's name. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Age in milliseconds at which a temporary file is of a killed process. */
const LEFTOVER_MS = 60_000;

/** Options of {@link RevocationList}. */
export interface RevocationListOptions {
  readonly recorded: RecordedIssuers;
  readonly revocations: RevocationRecords;
  /** Validity of a CRL in milliseconds. */
  readonly validityMs: number;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Signs the CRL (RFC 5280 §5) of an issuer from the gateway's records of
 * revocations: when its content changes, and after half of its validity.
 *
 * A restored database neither makes revoked certificates valid nor lets CRL
 * numbers go back: each CRL is also saved beside the key, and its revocations
 * are imported into the records before the next CRL is signed.
 */
export class RevocationList {
  readonly #ca: CaIssuer;
  readonly #issuer: Issuer;
  readonly #options: RevocationListOptions;
  readonly #now: () => number;
  /** File with the last CRL, beside the key. */
  readonly #savedFile: string;
  /** Number of the CRL in the file; 0 if there is none. */
  #savedNumber = 0n;
  #isImported = false;
  #nextUpdate: Date | undefined;
  /** The last renewal, and one that has not started yet. */
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** @param ca - has a key */
  constructor(ca: CaIssuer, options: RevocationListOptions) {
    this.#ca = ca;
    this.#issuer = ca.issuer!;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#savedFile = `${ca.files.keyFile}.crl`;
    metrics
      .getMeter('directory')
      .createObservableGauge('directory.ca.crl.next_update', {
        description: 'Seconds until the CRL of an issuer expires',
        unit: 's',
      })
      .addCallback(result => {
        if (this.#nextUpdate) {
          const remainingMs = this.#nextUpdate.getTime() - this.#now();
          result.observe(remainingMs / 1000, { issuer: ca.name });
        }
      });
  }

  /**
   * Returns the last CRL, DER, also if this process cannot read the key.
   *
   * @throws AuthorityUnavailableError when there is none, the database is not
   *   available, or it was restored and no CRL has been signed since.
   */
  async read(): Promise<Buffer> {
    const current = await this.#readCurrent();
    if (!current || current.number < this.#savedNumber) {
      throw new AuthorityUnavailableError('The CRL has not been signed yet');
    }
    return current.crl;
  }

  /**
   * Signs a CRL if it is due. Several processes may do so at the same time.
   * Calls during a renewal share the next one: a CRL for each of many concurrent
   * revocations would take quadratic time.
   *
   * @throws AuthorityUnavailableError when the key or the database is not
   *   available.
   */
  async renew(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#renew();
    });
    this.#last = this.#next.catch(() => {});
    await this.#next;
  }

  /** Signs a CRL with a change. A failure is only logged. */
  async renewAfterChange(): Promise<void> {
    try {
      await this.renew();
    } catch (error) {
      // The next run of the maintenance task signs the CRL.
      this.#options.logger.error(
        `A revocation was recorded, but the CRL of ${this.#ca.subject} was not signed: ${error}`,
      );
    }
  }

  async #renew(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const signed = await this.#signIfDue(await this.#readCurrent());
      if (signed) {
        await this.#save(signed);
        return;
      }
    }
    throw new AuthorityUnavailableError('Other processes sign CRLs as well');
  }

  /**
   * Returns the last CRL, a new one if it was due; `undefined` when another
   * process has recorded one.
   */
  async #signIfDue(
    current: RecordedCrl | undefined,
  ): Promise<RecordedCrl | undefined> {
    const { recorded, revocations, validityMs } = this.#options;
    // A damaged CRL is replaced.
    const last =
      current &&
      (await this.#issuer
        .readRevocationList(current.crl)
        .catch(() => undefined));
    // RFC 5280 §3.3: a certificate that expires stays until one CRL was issued
    // after its expiry.
    const entries = await revocations.list(this.#ca.id, {
      notExpiredAt: last?.thisUpdate ?? new Date(0),
    });
    const revoked = [...entries].sort((a, b) =>
      a.serialNumber < b.serialNumber ? -1 : 1,
    );
    const now = this.#now();
    const isDue =
      !last ||
      last.number < this.#savedNumber ||
      now >= (last.thisUpdate.getTime() + last.nextUpdate.getTime()) / 2 ||
      digestOf(revoked) !== digestOf(last.revoked);
    if (!isDue) {
      this.#nextUpdate = last.nextUpdate;
      return current;
    }
    await this.#ca.openKey();
    const previous = current?.number ?? 0n;
    const fields = {
      number: maxOf(previous + 1n, this.#savedNumber + 1n, BigInt(now)),
      thisUpdate: backdated(now),
      nextUpdate: new Date(now + validityMs),
      revoked,
    };
    const crl = await this.#issuer.signRevocationList(fields);
    const signed = { ...fields, crl };
    const isRecorded = await recorded.recordCrl(this.#ca.id, previous, signed);
    this.#nextUpdate = fields.nextUpdate;
    return isRecorded ? signed : undefined;
  }

  /**
   * Returns the CRL on record. Imports the saved CRL into the records before: at
   * first, and when its number is higher than that of the CRL on record, because
   * the database was restored.
   *
   * @throws AuthorityUnavailableError when the file is damaged, or the database
   *   is not available.
   */
  async #readCurrent(): Promise<RecordedCrl | undefined> {
    const { recorded, revocations, logger } = this.#options;
    const current = (await recorded.find(this.#ca.name))?.crl;
    const recordedNumber = current?.number ?? 0n;
    if (this.#isImported && recordedNumber >= this.#savedNumber) {
      return current;
    }
    await this.#removeLeftovers();
    const saved = await this.#readSaved();
    if (saved) {
      // Unless the database was restored, a hold may have been released since.
      const revoked = saved.revoked.filter(
        ({ reason }) =>
          saved.number > recordedNumber ||
          reason !== REVOCATION_REASONS.certificateHold,
      );
      const missing = await revocations.import(this.#ca.id, revoked);
      if (missing > 0) {
        logger.warn(
          `The database did not have ${missing} revocations of the CRL in ${
            this.#savedFile
          }: it was restored from a backup`,
        );
      }
      this.#savedNumber = saved.number;
    }
    this.#isImported = true;
    return current;
  }

  /** Removes the temporary files of processes that were killed. */
  async #removeLeftovers(): Promise<void> {
    const folder = dirname(this.#savedFile);
    const prefix = `${basename(this.#savedFile)}.`;
    for (const name of await readdir(folder).catch(() => [])) {
      if (name.startsWith(prefix) && UUID.test(name.slice(prefix.length))) {
        const path = join(folder, name);
        const { mtimeMs } = await stat(path).catch(() => ({
          mtimeMs: Infinity,
        }));
        if (Date.now() - mtimeMs >= LEFTOVER_MS) {
          await rm(path, { force: true }).catch(() => {});
        }
      }
    }
  }

  async #readSaved(): Promise<ReadRevocationList | undefined> {
    try {
      const crl = await readFile(this.#savedFile);
      return await this.#issuer.readRevocationList(crl);
    } catch (error) {
      if (isError(error) && error.code === 'ENOENT') {
        return undefined;
      }
      throw new AuthorityUnavailableError(
        `${this.#savedFile}, the copy of the last CRL, cannot be read`,
        error,
      );
    }
  }

  /** Saves a CRL beside the key. A failure is only logged. */
  async #save({ number, crl }: RecordedCrl): Promise<void> {
    if (this.#savedNumber === number) {
      return;
    }
    const temporary = `${this.#savedFile}.${randomUUID()}`;
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(crl);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.#savedFile);
      this.#savedNumber = number;
    } catch (error) {
      this.#options.logger.error(
        `The CRL cannot be saved, and a restored database would not contain later revocations: ${error}`,
      );
    }
  }
}

function maxOf(...numbers: readonly bigint[]): bigint {
  return numbers.reduce((max, number) => (number > max ? number : max));
}

/** A value that is equal for equal entries. */
function digestOf(revoked: readonly RevokedCertificate[]): string {
  return revoked
    .map(({ serialNumber, reason, revokedAt }) =>
      [serialNumber, reason, Math.floor(revokedAt.getTime() / 1000)].join(),
    )
    .join(';');
}
