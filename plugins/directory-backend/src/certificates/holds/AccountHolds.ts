import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import { metrics } from '@opentelemetry/api';
import type {
  Replica,
  ReplicatedAccounts,
  SubjectLookup,
} from '@directory-gateway/directory-core';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import type { AccountHoldsConfig } from '../CertificatesConfig';
import { ON_HOLD } from '../records/RevocationTable';
import type {
  HoldableCertificate,
  HoldCause,
  HoldRecords,
} from './HoldRecords';

/** Actor in the records of the CA and in audit events. */
const ACTOR = 'directory-gateway';

/** Time between the two lookups that must find a cause. */
const CONFIRMATION_MS = 10 * 60_000;

/** Number of other accounts, one of which a lookup of a deleted one must find. */
const WITNESSES = 5;

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
  readonly logger: LoggerService;
  readonly records: HoldRecords;
  readonly replica: Pick<Replica, 'isServing' | 'server'>;
  readonly replicated: Pick<ReplicatedAccounts, 'find' | 'someStableIds'>;
  readonly subjects: SubjectLookup;
  /** Default: the system clock. */
  readonly now?: () => Date;
}

type State = HoldCause | 'active' | 'unknown';

/** When lookups first found an account locked or deleted. */
type Finding = { readonly cause: HoldCause; readonly at: Date };

/** A certificate of a locked or deleted account. */
type Candidate = HoldableCertificate & { readonly cause: HoldCause };

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

  /** Checks the accounts of all certificates, unless reads are suspended. */
  async run(signal: AbortSignal): Promise<void> {
    const { config, logger, records, replica } = this.#options;
    const now = this.#options.now?.() ?? new Date();
    const { server } = replica;
    const failures = new Array<unknown>();
    const attempt = async (work: () => Promise<void>) => {
      if (!signal.aborted && replica.isServing && replica.server === server) {
        await work().catch(error => failures.push(error));
      }
    };
    const accounts = new Set<string>();
    const certificates = new Array<HoldableCertificate>();
    for await (const certificate of records.certificates(now)) {
      accounts.add(certificate.subjectId);
      if (
        certificate.hold ||
        (config.enabled && this.#isSuspect(certificate))
      ) {
        certificates.push(certificate);
      }
    }
    const states = new Map<string, State>();
    const found = new Map<string, Finding>();
    const due = new Array<Candidate>();
    for (const certificate of certificates) {
      const { hold, subjectId: id } = certificate;
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
    if (await this.#isPermitted(due, accounts.size)) {
      for (const each of due) {
        const change = each.hold?.isConfirmed ? 'revoke' : 'hold';
        await attempt(() => this.#change(change, each, now));
      }
    }
    if (failures.length > 0) {
      logger.warn(
        `${failures.length} checks of accounts for holds failed and are retried in the next run; first error: ${failures[0]}`,
      );
    }
  }

  /** Returns whether the replica has no active account with the ID and name. */
  #isSuspect({ username, subjectId }: { username: string; subjectId: string }) {
    const [account] = this.#options.replicated.find({ username });
    return account?.stableId !== subjectId || account.locked;
  }

  async #lookUp(
    { subjectId, username }: HoldableCertificate,
    signal: AbortSignal,
  ): Promise<State> {
    const { replica, replicated, subjects } = this.#options;
    const others = replicated.someStableIds(WITNESSES + 1);
    const witnesses = others.filter(id => id !== subjectId);
    const query = { stableId: subjectId, username, witnesses };
    const result = await subjects.findSubject(query, { signal });
    if (result.kind !== 'found') {
      const isSame =
        result.kind === 'deleted' && result.server === replica.server;
      return isSame ? 'deleted' : 'unknown';
    }
    const { locked, served, server, username: name } = result.principal;
    if (server !== replica.server || name === undefined) {
      return 'unknown';
    }
    // After a switch to a server that lags, the replica keeps stricter values.
    const isUnclear = served && this.#isSuspect({ username: name, subjectId });
    if (locked) {
      return 'locked';
    }
    return isUnclear ? 'unknown' : 'active';
  }

  /** Returns whether a run must put the certificate on hold or revoke it. */
  async #isDue(
    { id, serialNumber, cause, hold }: Candidate,
    { at, now }: { readonly at: Date; readonly now: Date },
  ): Promise<boolean> {
    const { authorities, config, records } = this.#options;
    if (!hold) {
      if (now.getTime() - at.getTime() < CONFIRMATION_MS) {
        return false;
      }
      // Holds that others have placed are neither recorded nor released.
      const issued = await authorities.get(serialNumber);
      return (
        issued?.record?.id === id &&
        !issued.revocation &&
        authorities.hasHolds(issued.authority)
      );
    }
    if (hold.cause !== cause) {
      await records.begin(id, cause, now);
      return false;
    }
    const ageMs = now.getTime() - hold.causedAt.getTime();
    const isRevocable =
      cause === 'deleted' && ageMs >= config.revokeDeletedAfterMs;
    return isRevocable || !hold.isConfirmed;
  }

  /** Returns whether a run changes few accounts, or has an override. */
  async #isPermitted(
    due: readonly Candidate[],
    accounts: number,
  ): Promise<boolean> {
    const { auditor, logger, records } = this.#options;
    const count = new Set(due.map(({ subjectId }) => subjectId)).size;
    const limit = Math.floor(
      Math.min(Math.max(20, accounts / 50), accounts / 2),
    );
    const isPermitted = count <= limit || (await records.useOverride(count));
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

  /** Changes a certificate at the CA, and records and audits the result. */
  async #change(
    change: 'hold' | 'release' | 'revoke',
    certificate: HoldableCertificate & { readonly cause?: HoldCause },
    now: Date,
  ): Promise<void> {
    const { auditor, authorities, records } = this.#options;
    const { authority, hold, id, serialNumber, username } = certificate;
    const { cause = hold!.cause } = certificate;
    const event = await auditor.createEvent({
      eventId: `certificate-${change}`,
      severityLevel: 'medium',
      meta: { actor: ACTOR, serialNumber: `${serialNumber}`, username, cause },
    });
    try {
      if (!hold) {
        await records.begin(id, cause, now);
      }
      const revocation = await {
        hold: () =>
          authorities.hold(authority, { serialNumber, heldBy: ACTOR }),
        release: () =>
          authorities.release(authority, { serialNumber, releasedBy: ACTOR }),
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
      await (isHeld ? records.confirm(id) : records.end(certificate));
      this.#changes.add(1, { outcome: OUTCOMES[change] });
      await event.success();
    } catch (error) {
      this.#changes.add(1, { outcome: 'failed' });
      await event.fail({ error: toError(error) });
      throw error;
    }
  }
}
