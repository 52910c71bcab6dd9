import type { IdentityApi, ProfileInfo } from '@backstage/frontend-plugin-api';
import { type PortalSession, problemOf } from './fetchSession';

/** Lifetime of a session whose response does not give one. */
const DEFAULT_LIFETIME_MS = 5 * 60_000;
/** Maximum time between the renewal of a session and its expiry. */
const LARGEST_MARGIN_MS = 5 * 60_000;
/** Part of a short session that is left when it is renewed. */
const MARGIN_PART = 0.2;

/** Refusals of the account itself: they end a session whose token is valid. */
const ACCOUNT_REFUSALS = new Set([
  'unknown_principal',
  'account_locked',
  'account_expired',
]);

/**
 * The signed-in user. The session is renewed by the first call shortly before
 * its expiry, once for all calls of that time. A session goes on while its
 * renewal is unavailable, and ends at once when the account is refused. Time
 * is measured from the response: the clocks of browser and server may differ.
 */
export class PortalIdentity implements IdentityApi {
  readonly #fetchSession: () => Promise<PortalSession>;
  readonly #onSignOut: () => void;
  readonly #onRefused: (reason: string) => void;
  #refusal: unknown;
  #session: PortalSession;
  #renewAt = 0;
  #endsAt = 0;
  #renewal: Promise<void> | undefined;

  constructor(options: {
    readonly session: PortalSession;
    /** Gets the next session. */
    readonly fetchSession: () => Promise<PortalSession>;
    readonly onSignOut: () => void;
    /** Called once, when the account is refused. */
    readonly onRefused: (reason: string) => void;
  }) {
    this.#fetchSession = options.fetchSession;
    this.#onSignOut = options.onSignOut;
    this.#onRefused = options.onRefused;
    this.#session = options.session;
    this.#keep(options.session);
  }

  async getProfileInfo(): Promise<ProfileInfo> {
    return this.#session.profile;
  }

  async getBackstageIdentity() {
    return this.#session.backstageIdentity.identity;
  }

  /** @throws SignInError when the session has ended and cannot be renewed. */
  async getCredentials(): Promise<{ token?: string }> {
    if (this.#refusal) {
      throw this.#refusal;
    }
    if (performance.now() >= this.#renewAt) {
      await this.#renew();
    }
    return { token: this.#session.backstageIdentity.token };
  }

  async signOut(): Promise<void> {
    this.#onSignOut();
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#fetchSession()
      .then(session => this.#keep(session))
      .catch(error => {
        const problem = problemOf(error);
        if (
          problem.kind === 'refused' &&
          ACCOUNT_REFUSALS.has(problem.reason)
        ) {
          this.#refusal = error;
          this.#onRefused(problem.reason);
          throw error;
        }
        // A valid token is used while the server or the ticket is unavailable.
        if (performance.now() >= this.#endsAt) {
          throw error;
        }
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }

  #keep(session: PortalSession): void {
    const { expiresInSeconds } = session.backstageIdentity;
    const lifetime =
      expiresInSeconds === undefined
        ? DEFAULT_LIFETIME_MS
        : expiresInSeconds * 1000;
    const margin = Math.min(LARGEST_MARGIN_MS, lifetime * MARGIN_PART);
    this.#session = session;
    this.#endsAt = performance.now() + lifetime;
    this.#renewAt = this.#endsAt - margin;
  }
}

const KEY = 'kerberos-sign-in:session-end';
const SIGNED_OUT = 'signed_out';

/** How the session of this tab ended. */
type SessionEnd =
  | { readonly kind: 'signedOut' }
  | {
      readonly kind: 'refused';
      /** The `reason` of the response to its renewal. */
      readonly reason: string;
    };

/**
 * Remembers, for this tab, how its session ended: the ticket is still there,
 * so the page would sign the user in again at once.
 */
export const sessionEnd = {
  set(end: SessionEnd): void {
    const value = end.kind === 'refused' ? end.reason : SIGNED_OUT;
    withStorage(storage => storage.setItem(KEY, value));
  },
  clear(): void {
    withStorage(storage => storage.removeItem(KEY));
  },
  /** `undefined` when no session of this tab has ended. */
  get(): SessionEnd | undefined {
    const value = withStorage(storage => storage.getItem(KEY));
    if (!value) {
      return undefined;
    }
    return value === SIGNED_OUT
      ? { kind: 'signedOut' }
      : { kind: 'refused', reason: value };
  },
};

/** A browser may deny its storage to pages; then nothing is remembered. */
function withStorage<T>(action: (storage: Storage) => T): T | undefined {
  try {
    return action(window.sessionStorage);
  } catch {
    return undefined;
  }
}
