import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { metrics } from '@opentelemetry/api';
import { randomUUID } from 'node:crypto';
import type {
  Replica,
  ReplicatedAccounts,
  SubjectLookup,
} from '@directory-gateway/directory-core';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import type { CertificatesConfig } from '../CertificatesConfig';
import { ACTOR, type GatewayChanges } from '../GatewayChanges';
import { type HoldCause, ON_HOLD } from '../records/certificateRows';
import type {
  CertificateRecords,
  LiveCertificate,
} from '../records/CertificateRecords';

/** Time between the two lookups that must find a cause. */
const CONFIRMATION_MS = 10 * 60_000;

/** Number of other accounts, one of which a lookup of a deleted one must find. */
const WITNESSES = 5;

const OVERRIDES = 'directory_hold_approvals';

/** Lifetime of an override. */
const OVERRIDE_MS = 10 * 60_000;

/** Time from the hold of a deleted user's certificate to its revocation. */
const REVOKE_DELETED_AFTER_MS = 7 * 24 * 60 * 60_000;

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
  readonly changes: GatewayChanges;
  readonly config: CertificatesConfig['accountHolds'];
  readonly database: Database;
  readonly logger: LoggerService;
  readonly records: Pick<
    CertificateRecords,
    'beginHold' | 'endHold' | 'listLive' | 'listLiveAccounts'
  >;
  readonly replica: Pick<Replica, 'isServing' | 'server'>;
  readonly replicated: Pick<
    ReplicatedAccounts,
    'find' | 'someStableIds' | 'usernameOf'
  >;
  readonly subjects: SubjectLookup;
  /** Default: the system clock. */
  readonly now?: () => Date;
}

type State = HoldCause | 'active' | 'unknown';

/** When lookups first found an account locked or deleted. */
type Finding = { readonly cause: HoldCause; readonly at: Date };

/** A certificate of a locked or deleted account. */
type Candidate = LiveCertificate & { readonly cause: HoldCause };

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
    const { config, logger, records, replica } = this.#options;
    const now = this.#options.now?.() ?? new Date();
    const { server } = replica;
    const failures = new Array<unknown>();
    const attempt = async (work: () => Promise<void>) => {
      if (!signal.aborted && replica.isServing && replica.server === server) {
        await work().catch(error => failures.push(error));
      }
    };
    const accounts = await records.listLiveAccounts();
    const suspects = accounts.filter(
      id => config.enabled && this.#isSuspect(id),
    );
    const states = new Map<string, State>();
    const found = new Map<string, Finding>();
    const due = new Array<Candidate>();
    for (const certificate of await records.listLive(suspects)) {
      const { hold, stableId: id } = certificate;
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
    if (await this.#isPermitted(due, accounts.length)) {
      for (const each of due) {
        const change = each.hold && each.isHeld ? 'revoke' : 'hold';
        await attempt(() => this.#change(change, each, now));
      }
    }
    if (failures.length > 0) {
      logger.warn(
        `${failures.length} checks of accounts for holds failed and are tried again; first error: ${failures[0]}`,
      );
    }
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
    { stableId, username }: LiveCertificate,
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
    const { authorities, records } = this.#options;
    const { authority, cause, hold, id, isHeld, serialNumber } = candidate;
    if (!hold) {
      if (now.getTime() - at.getTime() < CONFIRMATION_MS) {
        return false;
      }
      // Holds that others have placed are neither recorded nor released.
      const issued = await authorities.get(serialNumber, { authority });
      return (
        issued?.record?.id === id &&
        !issued.revocation &&
        authorities.hasHolds(issued.authority)
      );
    }
    if (hold.cause !== cause) {
      await records.beginHold(id, { cause, at: now });
      return false;
    }
    const ageMs = now.getTime() - hold.at.getTime();
    return !isHeld || (cause === 'deleted' && ageMs >= REVOKE_DELETED_AFTER_MS);
  }

  /** Returns whether a run changes few accounts, or has an override. */
  async #isPermitted(
    due: readonly Candidate[],
    accounts: number,
  ): Promise<boolean> {
    const { auditor, logger } = this.#options;
    const count = new Set(due.map(({ stableId }) => stableId)).size;
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
    certificate: LiveCertificate & { readonly cause?: HoldCause },
    now: Date,
  ): Promise<void> {
    const { authorities, changes, records } = this.#options;
    const { authority, hold, serialNumber, username } = certificate;
    if (changes.isWaiting(change, certificate)) {
      return;
    }
    const cause = certificate.cause ?? hold!.cause;
    const work = async () => {
      if (!hold) {
        await records.beginHold(certificate.id, { cause, at: now });
      }
      const revocation =
        change === 'revoke'
          ? await authorities.revoke(authority, {
              serialNumber,
              reason: 'cessationOfOperation',
              revokedBy: ACTOR,
            })
          : await authorities[change](certificate);
      const isHeld = revocation?.reason === ON_HOLD;
      if (isHeld !== (change === 'hold')) {
        throw new Error(`The CA did not ${change} the certificate`);
      }
      await (isHeld || records.endHold(certificate));
    };
    try {
      const meta = { username, cause };
      await changes.run(change, certificate, { meta, work });
      this.#changes.add(1, { outcome: OUTCOMES[change] });
    } catch (error) {
      this.#changes.add(1, { outcome: 'failed' });
      throw error;
    }
  }
}
