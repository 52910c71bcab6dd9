import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { metrics } from '@opentelemetry/api';
import { randomUUID } from 'node:crypto';
import type {
  Replica,
  ReplicatedAccounts,
  SubjectLookup,
} from '@directory-gateway/directory-core';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import type { AccountHoldsConfig } from '../CertificatesConfig';
import { type CertificateRow, RECORDS } from '../records/CertificateRecords';
import { ON_HOLD } from '../records/RevocationTable';
import { ACTOR } from '../RevocationService';

/** Time between the two lookups that must find a cause. */
const CONFIRMATION_MS = 10 * 60_000;

/** Number of other accounts, one of which a lookup of a deleted one must find. */
const WITNESSES = 5;

/** Table of the holds that 0.2.0 has placed. */
const OLD_HOLDS = 'directory_certificate_holds';
const OVERRIDES = 'directory_hold_approvals';

/** Lifetime of an override. */
const OVERRIDE_MS = 10 * 60_000;

/** Maximum number of accounts in a query. */
const PAGE_SIZE = 1000;

/** Columns of a certificate of a known account. */
const COLUMNS = [
  'id',
  'authority',
  'serial_number',
  'username',
  'subject_id',
  'hold_cause',
  'hold_caused_at',
  'hold_confirmed',
] as const;

/** Outcomes in the metric. */
const OUTCOMES = { hold: 'held', release: 'released', revoke: 'revoked' };

const meter = metrics.getMeter('directory');

/** Options of {@link AccountHolds}. */
export interface AccountHoldsOptions {
  readonly auditor: AuditorService;
  readonly authorities: Pick<
    CertificateAuthorities,
    'get' | 'hasHolds' | 'hold' | 'release' | 'revoke'
  >;
  readonly config: AccountHoldsConfig;
  readonly database: Database;
  readonly logger: LoggerService;
  readonly replica: Pick<Replica, 'isServing' | 'server'>;
  readonly replicated: Pick<
    ReplicatedAccounts,
    'find' | 'someStableIds' | 'usernameOf'
  >;
  readonly subjects: SubjectLookup;
  /** Default: the system clock. */
  readonly now?: () => Date;
}

/** Reason for which a certificate is on hold. */
type HoldCause = 'locked' | 'deleted';

/** A certificate of a known account, with the hold that the gateway records. */
type LiveRow = Pick<CertificateRow, (typeof COLUMNS)[number]> & {
  readonly serial_number: string;
  readonly username: string;
  readonly subject_id: string;
};

type State = HoldCause | 'active' | 'unknown';

/** When lookups first found an account locked or deleted. */
type Finding = { readonly cause: HoldCause; readonly at: Date };

/** A certificate of a locked or deleted account. */
type Candidate = LiveRow & { readonly cause: HoldCause };

/**
 * Puts the certificates of locked and deleted users on hold, releases them when
 * the user is active again, and revokes those of deleted users after a delay.
 *
 * The replica selects accounts; only live lookups by ID decide. Each run
 * computes the desired state, so the next one completes a run that failed.
 */
export class AccountHolds {
  readonly #options: AccountHoldsOptions;
  readonly #changes = meter.createCounter('directory.certificate.holds', {
    description:
      'Certificates that were put on hold because of their account, released or revoked',
  });
  /** Findings of the last run by account. */
  #found: ReadonlyMap<string, Finding> = new Map();
  /** Number of accounts that the last run would have changed above the limit. */
  #excess = 0;

  constructor(options: AccountHoldsOptions) {
    this.#options = options;
    meter
      .createObservableGauge('directory.certificate.holds.waiting', {
        description:
          'Users whose certificates are put on hold or revoked only after an override',
      })
      .addCallback(result => result.observe(this.#excess));
  }

  /** Permits one run that changes `count` accounts; returns the expiry. */
  async override({ count, actor }: { count: number; actor: string }) {
    const expiresAt = new Date(Date.now() + OVERRIDE_MS);
    await this.#options.database(OVERRIDES).insert({
      id: randomUUID(),
      count,
      approved_by: actor,
      expires_at: expiresAt,
    });
    return expiresAt;
  }

  /** Checks the accounts of all certificates, unless reads are suspended. */
  async run(signal: AbortSignal): Promise<void> {
    const { config, logger, replica } = this.#options;
    const now = this.#options.now?.() ?? new Date();
    const { server } = replica;
    const failures = new Array<unknown>();
    const attempt = async (work: () => Promise<void>) => {
      if (!signal.aborted && replica.isServing && replica.server === server) {
        await work().catch(error => failures.push(error));
      }
    };
    const { accounts, certificates } = await this.#select(now);
    const states = new Map<string, State>();
    const found = new Map<string, Finding>();
    const due = new Array<Candidate>();
    for (const certificate of certificates) {
      const { hold_cause: hold, subject_id: id } = certificate;
      await attempt(async () => {
        const state =
          states.get(id) ?? (await this.#lookUp(certificate, signal));
        states.set(id, state);
        if (state === 'active') {
          await (hold &&
            attempt(() => this.#change('release', certificate, now)));
        } else if (state !== 'unknown' && config.enabled) {
          const last = this.#found.get(id);
          const at = last?.cause === state ? last.at : now;
          found.set(id, { cause: state, at });
          const candidate = { ...certificate, cause: state };
          if (await this.#isDue(candidate, { at, now })) {
            due.push(candidate);
          }
        }
      });
    }
    this.#found = found;
    if (await this.#isPermitted(due, accounts)) {
      for (const each of due) {
        const change = each.hold_confirmed ? 'revoke' : 'hold';
        await attempt(() => this.#change(change, each, now));
      }
    }
    if (failures.length > 0) {
      logger.warn(
        `${failures.length} checks of accounts for holds failed and are retried in the next run; first error: ${failures[0]}`,
      );
    }
  }

  /**
   * Returns the number of accounts with live certificates, and the certificates
   * that are on hold or may have to be.
   */
  async #select(now: Date) {
    const live = () =>
      this.#table()
        .where('not_after', '>', now)
        .whereIn('state', ['valid', 'held'])
        .whereNotNull('subject_id');
    const rows = await live().distinct('subject_id');
    const ids = rows.map(({ subject_id }) => subject_id!);
    const { enabled } = this.#options.config;
    const suspects = ids.filter(id => enabled && this.#isSuspect(id));
    const certificates = await live()
      .whereNotNull('hold_cause')
      .select(...COLUMNS);
    for (let at = 0; at < suspects.length; at += PAGE_SIZE) {
      const page = suspects.slice(at, at + PAGE_SIZE);
      certificates.push(
        ...(await live()
          .whereNull('hold_cause')
          .whereIn('subject_id', page)
          .select(...COLUMNS)),
      );
    }
    return {
      accounts: ids.length,
      certificates: certificates as readonly LiveRow[],
    };
  }

  /** Returns whether the replica has no active account with an ID. */
  #isSuspect(stableId: string): boolean {
    const { replicated } = this.#options;
    const username = replicated.usernameOf(stableId);
    const [account] =
      username === undefined ? [] : replicated.find({ username });
    return account?.locked ?? true;
  }

  async #lookUp(
    { subject_id: stableId, username }: LiveRow,
    signal: AbortSignal,
  ): Promise<State> {
    const { replica, replicated, subjects } = this.#options;
    const others = replicated.someStableIds(WITNESSES + 1);
    const witnesses = others.filter(id => id !== stableId);
    const query = { stableId, username, witnesses };
    const result = await subjects.findSubject(query, { signal });
    if (result.kind !== 'found') {
      const isSame =
        result.kind === 'deleted' && result.server === replica.server;
      return isSame ? 'deleted' : 'unknown';
    }
    const { locked, served, server } = result.principal;
    if (server !== replica.server) {
      return 'unknown';
    }
    if (locked) {
      return 'locked';
    }
    // After a switch to a server that lags, the replica keeps stricter values.
    return served && this.#isSuspect(stableId) ? 'unknown' : 'active';
  }

  /** Returns whether a run must put the certificate on hold or revoke it. */
  async #isDue(
    candidate: Candidate,
    { at, now }: { readonly at: Date; readonly now: Date },
  ): Promise<boolean> {
    const { authorities, config } = this.#options;
    const { id, serial_number, cause, hold_cause: hold } = candidate;
    if (!hold) {
      if (now.getTime() - at.getTime() < CONFIRMATION_MS) {
        return false;
      }
      // Holds that others have placed are neither recorded nor released.
      const issued = await authorities.get(BigInt(serial_number));
      return (
        issued?.record?.id === id &&
        !issued.revocation &&
        authorities.hasHolds(issued.authority)
      );
    }
    if (hold !== cause) {
      await this.#begin(id, cause, now);
      return false;
    }
    const ageMs = now.getTime() - new Date(candidate.hold_caused_at!).getTime();
    const isRevocable =
      cause === 'deleted' && ageMs >= config.revokeDeletedAfterMs;
    return isRevocable || !candidate.hold_confirmed;
  }

  /** Returns whether a run changes few accounts, or has an override. */
  async #isPermitted(
    due: readonly Candidate[],
    accounts: number,
  ): Promise<boolean> {
    const { auditor, logger } = this.#options;
    const count = new Set(due.map(({ subject_id }) => subject_id)).size;
    const limit = Math.floor(
      Math.min(Math.max(20, accounts / 50), accounts / 2),
    );
    const isPermitted = count <= limit || (await this.#useOverride(count));
    if (!isPermitted && count !== this.#excess) {
      const message = `The certificates of ${count} locked or deleted users are not put on hold or revoked: more than ${limit} of ${accounts} users at a time need an override. If the directory is correct, run the override-hold-limit action with count=${count}`;
      logger.error(message);
      const event = await auditor.createEvent({
        eventId: 'certificate-holds-limit',
        severityLevel: 'high',
        meta: { actor: ACTOR, count, accounts },
      });
      await event.fail({ error: new Error(message) });
    }
    this.#excess = isPermitted ? 0 : count;
    return isPermitted;
  }

  /** Returns whether an override permits a run, and deletes the override. */
  async #useOverride(count: number): Promise<boolean> {
    const deleted = await this.#options
      .database(OVERRIDES)
      .where({ count })
      .where('expires_at', '>', new Date())
      .delete();
    return deleted > 0;
  }

  /** Changes a certificate at the CA, and records and audits the result. */
  async #change(
    change: 'hold' | 'release' | 'revoke',
    certificate: LiveRow & { readonly cause?: HoldCause },
    now: Date,
  ): Promise<void> {
    const { auditor, authorities } = this.#options;
    const { authority, hold_cause, id, serial_number, username } = certificate;
    const { cause = hold_cause! } = certificate;
    const serialNumber = BigInt(serial_number);
    const event = await auditor.createEvent({
      eventId: `certificate-${change}`,
      severityLevel: 'medium',
      meta: { actor: ACTOR, serialNumber: serial_number, username, cause },
    });
    try {
      if (!hold_cause) {
        await this.#begin(id, cause, now);
      }
      const key = { authority, serialNumber };
      const revocation = await {
        hold: () => authorities.hold(key),
        release: () => authorities.release(key),
        revoke: () =>
          authorities.revoke(authority, {
            serialNumber,
            reason: 'cessationOfOperation',
            revokedBy: ACTOR,
          }),
      }[change]();
      const isHeld = revocation?.reason === ON_HOLD;
      const isRevoked = revocation !== undefined && !isHeld;
      const isDone = { hold: isHeld, release: !isHeld, revoke: isRevoked };
      if (!isDone[change]) {
        throw new Error(`The CA did not ${change} the certificate`);
      }
      await (isHeld
        ? this.#table().where({ id }).update({ hold_confirmed: true })
        : this.#end(certificate));
      this.#changes.add(1, { outcome: OUTCOMES[change] });
      await event.success();
    } catch (error) {
      this.#changes.add(1, { outcome: 'failed' });
      await event.fail({ error: toError(error) });
      throw error;
    }
  }

  /** Records a hold before the CA places it, or another cause. */
  async #begin(id: string, cause: HoldCause, now: Date): Promise<void> {
    await this.#table()
      .where({ id })
      .update({ hold_cause: cause, hold_caused_at: now });
  }

  /** Records the end of a hold. */
  async #end({ id, serial_number }: LiveRow): Promise<void> {
    await this.#options.database.transaction(async transaction => {
      await transaction(RECORDS).where({ id }).update({
        hold_cause: null,
        hold_caused_at: null,
        hold_confirmed: false,
      });
      await transaction(OLD_HOLDS)
        .where({ serial_number, ended_at: null })
        .update({ ended_at: new Date() });
    });
  }

  #table() {
    return this.#options.database<CertificateRow>(RECORDS);
  }
}
