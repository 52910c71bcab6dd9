import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import type { CertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node';
import { metrics } from '@opentelemetry/api';
import type { SubjectLookup } from '../../directory/Principal';
import type { Replica } from '../../replica/Replica';
import type { ReplicatedAccounts } from '../../replica/ReplicatedAccounts';
import type { CurrentPosition as ConfirmedSync } from '../../replica/sync/ReplicaSource';
import { PositionGate, positionOf } from '../../replica/sync/PositionGate';
import type { AccountHoldsConfig } from '../CertificatesConfig';
import { ON_HOLD } from '../CertificateAuthorities';
import type {
  Hold,
  HoldableCertificate,
  HoldCause,
  HoldRecords,
} from './HoldRecords';

/** Actor in the records of the CA and in audit events. */
const ACTOR = 'directory-gateway';

/** Maximum clock difference plus the delay between a lookup and its record. */
const CLOCK_MARGIN_MS = 30_000;

/**
 * Maximum wait for the state of a server that the replica no longer follows.
 * The same as for a server that lags behind.
 */
const MAX_UNCOVERED_MS = 60 * 60_000;

/**
 * Number of witness accounts from each source. A search that finds no account
 * is trusted only if it finds at least one witness.
 */
const WITNESSES = 5;

/** Suffixes of audit event IDs. */
const EVENTS = { held: 'hold', released: 'release', revoked: 'revoke' };

/** Options of {@link AccountHolds}. */
export interface AccountHoldsOptions {
  readonly auditor: AuditorService;
  readonly authority: Required<
    Pick<CertificateAuthority, 'get' | 'hold' | 'release' | 'revoke'>
  >;
  readonly config: AccountHoldsConfig;
  readonly logger: LoggerService;
  readonly records: HoldRecords;
  readonly replica: Pick<Replica, 'confirmed' | 'isServing' | 'server'>;
  /** Accounts in the replica. */
  readonly replicated: Pick<ReplicatedAccounts, 'find' | 'someStableIds'>;
  readonly subjects: SubjectLookup;
  /** Default: the system clock. */
  readonly now?: () => Date;
}

/** State of an account that determines holds. */
type AccountState = 'active' | HoldCause | 'unknown';

/** A check of all certificates against a single confirmed sync. */
interface Run {
  readonly sync: ConfirmedSync;
  readonly now: Date;
  readonly signal: AbortSignal;
  /** Live states of accounts by ID. */
  readonly states: Map<string, AccountState>;
  /** IDs of the witness accounts. */
  readonly witnesses: readonly string[];
  /** IDs of accounts whose holds need approval. */
  readonly waiting: Set<string>;
  readonly failures: unknown[];
}

/**
 * Puts the certificates of locked and deleted users on hold, releases them when
 * the user is active again, and revokes those of deleted users after a delay.
 *
 * The replica selects candidates; only a live lookup of the same account on the
 * same server decides. The server must have all changes that were known at the
 * last run. Each run computes the desired state, so the next run completes a
 * failed one.
 */
export class AccountHolds {
  readonly #options: AccountHoldsOptions;
  readonly #gate: PositionGate;
  readonly #now: () => Date;
  readonly #holds = metrics
    .getMeter('directory')
    .createCounter('directory.certificate.holds', {
      description:
        'Certificates that were put on hold because of their account, released or revoked',
    });
  #waiting = 0;

  constructor(options: AccountHoldsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#gate = new PositionGate({
      logger: options.logger,
      subject: 'The account hold check',
    });
    metrics
      .getMeter('directory')
      .createObservableGauge('directory.certificate.holds.waiting', {
        description: 'Users whose certificates need approval to be put on hold',
      })
      .addCallback(result => result.observe(this.#waiting));
  }

  /**
   * Checks the accounts of all certificates.
   *
   * @returns whether all certificates were checked; `false` while the replica
   *   cannot be read or its server lags behind
   * @throws the errors of the database.
   */
  async run(signal: AbortSignal): Promise<boolean> {
    const { records, replica, replicated } = this.#options;
    const sync = replica.confirmed;
    if (!sync || !this.#gate.hasReached(await records.position(), sync)) {
      return false;
    }
    const now = this.#now();
    const syncedAt = now.getTime() - (performance.now() - sync.requestedAt);
    const run: Run = {
      sync,
      now,
      signal,
      states: new Map(),
      witnesses: [
        ...replicated.someStableIds(WITNESSES),
        ...(await records.subjectIds(WITNESSES)),
      ],
      waiting: new Set(),
      failures: [],
    };
    for await (const certificate of records.certificates(now)) {
      if (!this.#isValid(run)) {
        return false;
      }
      await this.#check(certificate, run).catch(error =>
        run.failures.push(error),
      );
    }
    await records.finishRun({
      position: positionOf(sync),
      coveredUntil: new Date(syncedAt - CLOCK_MARGIN_MS),
      waiting: run.waiting.size,
      now,
    });
    this.#report(run);
    return true;
  }

  /**
   * Returns whether the replica may still be read and follows the same server.
   */
  #isValid({ sync, signal }: Run): boolean {
    const { replica } = this.#options;
    return (
      !signal.aborted && replica.isServing && replica.server === sync.server
    );
  }

  async #check(certificate: HoldableCertificate, run: Run): Promise<void> {
    const { hold, subjectId } = certificate;
    const replicated = this.#replicatedState(certificate);
    const isDue = this.#isRevocationDue(hold, run);
    const isAsExpected = hold
      ? hold.isConfirmed && hold.cause === replicated && !isDue
      : replicated === 'active';
    if (isAsExpected || !this.#isCovered(certificate, run)) {
      return;
    }
    const state =
      run.states.get(subjectId) ?? (await this.#liveState(certificate, run));
    run.states.set(subjectId, state);
    if (state === 'unknown' || !this.#isValid(run)) {
      return;
    }
    if (state === 'active') {
      if (hold) {
        await this.#release(certificate, hold, run);
      }
    } else if (!hold) {
      await this.#hold(certificate, state, run);
    } else if (!hold.isConfirmed) {
      await this.#place(certificate, hold);
    } else if (hold.cause !== state) {
      await this.#options.records.setCause(hold, state, run.now);
    } else if (isDue) {
      await this.#revoke(certificate, hold, run);
    }
  }

  /**
   * Returns the state in the replica, where a renamed account counts as
   * deleted.
   */
  #replicatedState({
    username,
    subjectId,
  }: Pick<HoldableCertificate, 'username' | 'subjectId'>): AccountState {
    const [account] = this.#options.replicated.find({ username });
    if (account?.stableId !== subjectId) {
      return 'deleted';
    }
    return account.locked ? 'locked' : 'active';
  }

  async #liveState(
    { subjectId, username }: HoldableCertificate,
    { sync, signal, witnesses }: Run,
  ): Promise<AccountState> {
    const found = await this.#options.subjects.findSubject(
      {
        stableId: subjectId,
        username,
        witnesses: witnesses.filter(id => id !== subjectId),
      },
      { signal },
    );
    switch (found.kind) {
      case 'found': {
        const { principal } = found;
        if (principal.server !== sync.server || !principal.username) {
          return 'unknown';
        }
        // An unreadable lock looks like no lock, but the replica's entries were
        // read with an access check.
        const isReplicated =
          !principal.served ||
          this.#replicatedState({ username: principal.username, subjectId }) ===
            'active';
        if (principal.locked) {
          return 'locked';
        }
        return isReplicated ? 'active' : 'unknown';
      }
      case 'deleted':
        return found.server === sync.server ? 'deleted' : 'unknown';
      default:
        return 'unknown';
    }
  }

  /**
   * Returns whether the server has the account, if the account exists: it was
   * looked up on this server, or on a server whose later state this one has.
   */
  #isCovered(
    { lookupServer, recordedAt, hold }: HoldableCertificate,
    { sync, now }: Run,
  ): boolean {
    if (hold || lookupServer === undefined) {
      return true;
    }
    const ageMs = now.getTime() - recordedAt.getTime();
    return lookupServer === sync.server
      ? ageMs > CLOCK_MARGIN_MS
      : ageMs > MAX_UNCOVERED_MS;
  }

  #isRevocationDue(hold: Hold | undefined, { now }: Run): boolean {
    return (
      hold?.cause === 'deleted' &&
      now.getTime() - hold.causedAt.getTime() >=
        this.#options.config.revokeDeletedAfterMs
    );
  }

  async #hold(
    certificate: HoldableCertificate,
    cause: HoldCause,
    run: Run,
  ): Promise<void> {
    const { authority, config, records } = this.#options;
    const { serialNumber } = certificate;
    const issued = await authority.get(serialNumber);
    if (!issued || issued.revocation) {
      // Holds placed by others are not released by the gateway either.
      if (issued?.revocation && issued.revocation.reason !== ON_HOLD) {
        await records.markRevoked(serialNumber);
      }
      return;
    }
    const hold = await records.begin(certificate, {
      cause,
      now: run.now,
      maxPerHour: config.maxPerHour,
    });
    if (hold) {
      await this.#place(certificate, hold);
    } else {
      run.waiting.add(certificate.subjectId);
    }
  }

  async #place(certificate: HoldableCertificate, hold: Hold): Promise<void> {
    const { authority, records } = this.#options;
    const { serialNumber } = certificate;
    await this.#audited('held', { certificate, hold }, async () => {
      const held = await authority.hold({ serialNumber, heldBy: ACTOR });
      if (held?.revocation?.reason === ON_HOLD) {
        await records.confirm(hold);
        return;
      }
      await records.cancel(hold);
      if (held?.revocation) {
        await records.markRevoked(serialNumber);
      }
      throw new Error('The CA did not put the certificate on hold');
    });
  }

  async #release(
    certificate: HoldableCertificate,
    hold: Hold,
    { now }: Run,
  ): Promise<void> {
    const { authority, records } = this.#options;
    const { serialNumber } = certificate;
    await this.#audited('released', { certificate, hold }, async () => {
      const issued = await authority.release({
        serialNumber,
        releasedBy: ACTOR,
      });
      if (issued?.revocation?.reason === ON_HOLD) {
        throw new Error('The CA did not release the certificate');
      }
      if (issued?.revocation) {
        await records.markRevoked(serialNumber);
      }
      await records.end(hold, now);
    });
  }

  async #revoke(
    certificate: HoldableCertificate,
    hold: Hold,
    { now }: Run,
  ): Promise<void> {
    const { authority, records } = this.#options;
    const { serialNumber } = certificate;
    await this.#audited('revoked', { certificate, hold }, async () => {
      await authority.revoke({
        serialNumber,
        reason: 'cessationOfOperation',
        revokedBy: ACTOR,
      });
      await records.markRevoked(serialNumber);
      await records.end(hold, now);
    });
  }

  async #audited(
    outcome: 'held' | 'released' | 'revoked',
    subject: { readonly certificate: HoldableCertificate; readonly hold: Hold },
    work: () => Promise<void>,
  ): Promise<void> {
    const { serialNumber, username } = subject.certificate;
    const event = await this.#options.auditor.createEvent({
      eventId: `certificate-${EVENTS[outcome]}`,
      severityLevel: 'medium',
      meta: {
        actor: ACTOR,
        serialNumber: String(serialNumber),
        username,
        cause: subject.hold.cause,
      },
    });
    try {
      await work();
      this.#holds.add(1, { outcome });
      await event.success();
    } catch (error) {
      this.#holds.add(1, { outcome: 'failed' });
      await event.fail({ error: toError(error) });
      throw error;
    }
  }

  #report(run: Run): void {
    const { logger, config } = this.#options;
    const { failures } = run;
    const waiting = run.waiting.size;
    if (waiting > 0 && waiting !== this.#waiting) {
      logger.error(
        `The certificates of ${waiting} locked or deleted users are waiting to be put on hold. More than ${config.maxPerHour} users per hour require approval: run the approve-certificate-holds action with count=${waiting}`,
      );
    }
    this.#waiting = waiting;
    if (failures.length > 0) {
      logger.warn(
        `${failures.length} checks of accounts for holds failed and are retried in the next run; first error: ${failures[0]}`,
      );
    }
  }
}
