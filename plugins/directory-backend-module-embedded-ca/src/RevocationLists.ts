import type { LoggerService } from '@backstage/backend-plugin-api';
import { isError, toError } from '@backstage/errors';
import {
  AuthorityUnavailableError,
  type RevocationRecords,
  type RevokedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type ReadRevocationList,
  REVOCATION_REASONS,
} from '@directory-gateway/x509';
import { metrics } from '@opentelemetry/api';
import { randomUUID } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import type { CaIssuer } from './CaIssuer';
import { backdated } from './composeCertificate';
import type { RecordedCrl, RecordedIssuers } from './RecordedIssuers';

/**
 * Maximum number of attempts to sign a CRL: an attempt fails when another
 * process has recorded a CRL in the meantime.
 */
const MAX_ATTEMPTS = 20;

/** What a process knows about the CRL of an issuer. */
interface IssuerState {
  /** Whether the saved CRL was imported into the records. */
  isImported: boolean;
  /** Number of the CRL beside the key; 0 if there is none. */
  savedNumber: bigint;
  /** When the last CRL on record expires. */
  nextUpdate?: Date;
  /** The last renewal, and one that has not started yet. */
  last: Promise<void>;
  next?: Promise<void>;
}

/** Options of {@link RevocationLists}. */
export interface RevocationListsOptions {
  readonly issuers: readonly CaIssuer[];
  readonly recorded: RecordedIssuers;
  readonly revocations: RevocationRecords;
  /** Validity of a CRL in milliseconds. */
  readonly validityMs: number;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Signs the CRLs (RFC 5280 §5) from the gateway's records of revocations, one
 * for each issuer with a key: when its content changes, and after half of its
 * validity.
 *
 * A restored database neither makes revoked certificates valid nor lets CRL
 * numbers go back: each CRL is also saved beside the key, and its revocations
 * are imported into the records before the issuer signs the next one.
 */
export class RevocationLists {
  readonly #options: RevocationListsOptions;
  readonly #now: () => number;
  readonly #states = new Map<string, IssuerState>();

  constructor(options: RevocationListsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    metrics
      .getMeter('directory')
      .createObservableGauge('directory.ca.crl.next_update', {
        description: 'Seconds until the CRL of an issuer expires',
        unit: 's',
      })
      .addCallback(result => {
        for (const { id, name } of options.issuers) {
          const nextUpdate = this.#states.get(id)?.nextUpdate;
          if (nextUpdate) {
            const remainingMs = nextUpdate.getTime() - this.#now();
            result.observe(remainingMs / 1000, { issuer: name });
          }
        }
      });
  }

  /**
   * Returns the last CRL of an issuer, DER, also if this process cannot read the
   * key.
   *
   * @throws AuthorityUnavailableError when there is none, the database is not
   *   available, or it was restored and the saved CRL cannot be imported.
   */
  async read(issuer: CaIssuer): Promise<Buffer> {
    const current = await this.#options.recorded.findCrl(issuer.id);
    await this.#importSaved(issuer, current);
    if (!current || current.number < this.#stateOf(issuer).savedNumber) {
      throw new AuthorityUnavailableError('The CRL has not been signed yet');
    }
    return current.crl;
  }

  /** Signs a CRL with a change. A failure is only logged. */
  async renewAfterChange(issuer: CaIssuer): Promise<void> {
    try {
      await this.#renewShared(issuer);
    } catch (error) {
      // The next run of the maintenance task signs the CRL.
      this.#options.logger.error(
        `A revocation was recorded, but the CRL of ${issuer.subject} was not signed: ${error}`,
      );
    }
  }

  /**
   * Signs the CRLs that are due. Several processes may call this concurrently.
   *
   * @throws the first error, after all issuers have been tried.
   */
  async renew(): Promise<void> {
    const renewals = await Promise.allSettled(
      this.#options.issuers
        .filter(({ issuer }) => issuer)
        .map(issuer => this.#renewShared(issuer)),
    );
    const failed = renewals.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') {
      throw failed.reason;
    }
  }

  #stateOf({ id }: CaIssuer): IssuerState {
    const state = this.#states.get(id) ?? {
      isImported: false,
      savedNumber: 0n,
      last: Promise.resolve(),
    };
    this.#states.set(id, state);
    return state;
  }

  /**
   * Calls during a renewal share the next one: signing a CRL for each of many
   * concurrent revocations would take quadratic time.
   */
  async #renewShared(issuer: CaIssuer): Promise<void> {
    const state = this.#stateOf(issuer);
    if (!state.next) {
      const start = () => {
        state.next = undefined;
        return this.#renew(issuer, state);
      };
      state.next = state.last.then(start, start);
      state.last = state.next;
    }
    await state.next;
  }

  async #renew(issuer: CaIssuer, state: IssuerState): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const current = await this.#options.recorded.findCrl(issuer.id);
      await this.#importSaved(issuer, current);
      const signed = await this.#signIfDue(issuer, current);
      if (signed) {
        state.nextUpdate = signed.nextUpdate;
        await this.#save(issuer, signed);
        return;
      }
    }
    throw new AuthorityUnavailableError(
      'Other processes signed CRLs at the same time',
    );
  }

  /**
   * Signs and records a CRL when the last one is due.
   *
   * @returns the last CRL on record; `undefined` when another process has
   *   recorded one
   */
  async #signIfDue(
    issuer: CaIssuer,
    current: RecordedCrl | undefined,
  ): Promise<RecordedCrl | undefined> {
    const { recorded, revocations, validityMs } = this.#options;
    const { savedNumber } = this.#stateOf(issuer);
    const last = current && (await this.#parse(issuer, current));
    // RFC 5280 §3.3: a certificate that expires stays until one CRL was issued
    // after its expiry.
    const entries = await revocations.list(issuer.id, {
      notExpiredAt: last?.thisUpdate ?? new Date(0),
    });
    const revoked = [...entries].sort(bySerialNumber);
    const now = this.#now();
    const isDue =
      !last ||
      last.number < savedNumber ||
      now >= (last.thisUpdate.getTime() + last.nextUpdate.getTime()) / 2 ||
      digestOf(revoked) !== digestOf(last.revoked);
    if (!isDue) {
      return current;
    }
    await issuer.openKey();
    const previous = current?.number ?? 0n;
    const fields = {
      number: maxOf(previous + 1n, savedNumber + 1n, BigInt(now)),
      thisUpdate: backdated(now),
      nextUpdate: new Date(now + validityMs),
      revoked,
    };
    const crl = await issuer.issuer!.signRevocationList(fields);
    const signed = { ...fields, previous, crl };
    return (await recorded.recordCrl(issuer.id, signed)) ? signed : undefined;
  }

  /** Returns the content of a CRL on record, unless it is damaged. */
  async #parse(
    issuer: CaIssuer,
    { crl }: RecordedCrl,
  ): Promise<ReadRevocationList | undefined> {
    try {
      return await issuer.issuer!.readRevocationList(crl);
    } catch (error) {
      this.#options.logger.error(
        `The CRL of ${issuer.subject} on record is replaced: ${error}`,
      );
      return undefined;
    }
  }

  /**
   * Imports the CRL beside the key into the records: at first, and again when
   * its number is higher than that of the CRL on record, because the database
   * was restored.
   *
   * @throws AuthorityUnavailableError when the file is damaged, or the database
   *   is not available.
   */
  async #importSaved(
    issuer: CaIssuer,
    current: RecordedCrl | undefined,
  ): Promise<void> {
    const { revocations, logger } = this.#options;
    const state = this.#stateOf(issuer);
    const recordedNumber = current?.number ?? 0n;
    if (state.isImported && recordedNumber >= state.savedNumber) {
      return;
    }
    const saved = await this.#readSaved(issuer);
    if (saved) {
      // A hold may have been released since the saved CRL, unless the database
      // was restored.
      const revoked = saved.revoked.filter(
        ({ reason }) =>
          saved.number > recordedNumber ||
          reason !== REVOCATION_REASONS.certificateHold,
      );
      const missing = await revocations.import(issuer.id, revoked);
      if (missing > 0) {
        logger.warn(
          `The database did not have ${missing} revocations of the CRL in ${issuer.savedCrlFile}: it was restored from a backup`,
        );
      }
      state.savedNumber = saved.number;
    }
    state.isImported = true;
  }

  async #readSaved(issuer: CaIssuer): Promise<ReadRevocationList | undefined> {
    const path = issuer.savedCrlFile;
    try {
      return await issuer.issuer!.readRevocationList(await readFile(path));
    } catch (error) {
      if (isError(error) && error.code === 'ENOENT') {
        return undefined;
      }
      throw new AuthorityUnavailableError(
        `${path}, the copy of the last CRL, cannot be read`,
        error,
      );
    }
  }

  /** Saves a CRL beside the key. A failure is only logged. */
  async #save(issuer: CaIssuer, { number, crl }: RecordedCrl): Promise<void> {
    const state = this.#stateOf(issuer);
    if (state.savedNumber === number) {
      return;
    }
    const path = issuer.savedCrlFile;
    try {
      const temporary = `${path}.${randomUUID()}`;
      const file = await open(temporary, 'w', 0o600);
      try {
        await file.writeFile(crl);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      state.savedNumber = number;
    } catch (error) {
      this.#options.logger.error(
        `The CRL cannot be saved in ${path}, and a restored database would not contain later revocations: ${toError(error).message}`,
      );
    }
  }
}

function bySerialNumber(
  first: RevokedCertificate,
  second: RevokedCertificate,
): number {
  return first.serialNumber < second.serialNumber ? -1 : 1;
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
