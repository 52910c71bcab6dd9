import type { FetchMiddleware } from '@backstage/core-app-api';
import {
  createApiRef,
  type IdentityApi,
  type ProfileInfo,
} from '@backstage/frontend-plugin-api';
import { type PortalSession, toFailure } from './fetchSession';

/** Lifetime of a session if the response does not contain it, in seconds. */
const DEFAULT_LIFETIME = 5 * 60;
/**
 * Maximum time between the renewal and the expiry of a session, in
 * milliseconds.
 */
const MAX_MARGIN_MS = 5 * 60_000;
/** Remaining fraction of the lifetime at which a short session is renewed. */
const MARGIN_PART = 0.2;

/**
 * Minimum age of a session, in milliseconds, to renew it after the server
 * refused its token. A token that replaces a younger one would be refused, too.
 */
const MIN_AGE_MS = 60_000;

/** Pause after a renewal that failed, in milliseconds. */
const RETRY_MS = 30_000;

/** Refusals of the account. They end the session even if the token is valid. */
const ACCOUNT_REFUSALS = new Set([
  'unknown_principal',
  'account_locked',
  'account_expired',
  'unusable_name',
]);

/** Options of {@link PortalIdentity}. */
interface PortalIdentityOptions {
  readonly session: PortalSession;
  /** Requests the next session. */
  readonly fetchSession: () => Promise<PortalSession>;
  readonly onSignOut: () => void;
  /** Called once, when the account is refused. */
  readonly onRefused: (reason: string) => void;
}

/**
 * Identity of the signed-in user. The first request for credentials shortly
 * before the session expires renews it, once for all concurrent calls. The
 * session continues while renewal is unavailable and ends immediately when the
 * account is refused. Time is measured from the response, because the clocks of
 * browser and server may differ.
 */
export class PortalIdentity implements IdentityApi {
  readonly #options: PortalIdentityOptions;
  #refusal: unknown;
  #session: PortalSession;
  #startedAt = { elapsed: 0, clock: 0 };
  /** Age from which the session is renewed, in milliseconds. */
  #renewAge = 0;
  #lifetime = 0;
  #renewal: Promise<void> | undefined;

  constructor(options: PortalIdentityOptions) {
    this.#options = options;
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
    if (this.#age >= this.#renewAge) {
      await this.#renew();
    }
    return { token: this.#session.backstageIdentity.token };
  }

  async signOut(): Promise<void> {
    this.#options.onSignOut();
  }

  /** The present session. */
  get session(): PortalSession {
    return this.#session;
  }

  /**
   * Renews a session whose token the server refused, unless another request has
   * already renewed it. Returns whether there is a new token for the same user:
   * the ticket may belong to another one now.
   */
  async renewRefused(refused: PortalSession): Promise<boolean> {
    if (this.#session === refused && this.#age >= MIN_AGE_MS) {
      await this.#renew().catch(() => undefined);
    }
    return (
      this.#session !== refused && userOf(this.#session) === userOf(refused)
    );
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#options
      .fetchSession()
      .then(session => this.#keep(session))
      .catch(error => {
        const failure = toFailure(error);
        if (
          failure.kind === 'refused' &&
          ACCOUNT_REFUSALS.has(failure.reason)
        ) {
          this.#refusal = error;
          this.#options.onRefused(failure.reason);
          throw error;
        }
        // A valid token stays in use while the server or the ticket is
        // unavailable.
        if (this.#age >= this.#lifetime) {
          throw error;
        }
        this.#renewAge = Math.min(this.#age + RETRY_MS, this.#lifetime);
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }

  #keep(session: PortalSession): void {
    const { expiresInSeconds = DEFAULT_LIFETIME } = session.backstageIdentity;
    const lifetime = expiresInSeconds * 1000;
    const margin = Math.min(MAX_MARGIN_MS, lifetime * MARGIN_PART);
    this.#session = session;
    this.#startedAt = { elapsed: performance.now(), clock: Date.now() };
    this.#lifetime = lifetime;
    this.#renewAge = lifetime - margin;
  }

  /**
   * Age of the session in milliseconds. In some browsers, `performance.now()`
   * stops while the computer is suspended; the clock may be set back.
   */
  get #age(): number {
    const { elapsed, clock } = this.#startedAt;
    return Math.max(performance.now() - elapsed, Date.now() - clock);
  }
}

/** Identity of the user who has signed in on this page, if any. */
export const signedInApiRef = createApiRef<{
  identity?: PortalIdentity;
}>().with({ id: 'app.kerberos-sign-in.signed-in', pluginId: 'app' });

function userOf({ backstageIdentity }: PortalSession): string {
  return backstageIdentity.identity.userEntityRef;
}

/** Requests of the directory pages. */
const DIRECTORY = 'plugin://directory/';

/**
 * Renews the session and repeats a request to the directory plugin once when
 * the plugin refuses the token (401) or requires a newer one (403). The plugin
 * does not process a request that it refuses, so repeating it is safe. A
 * `Request` is not repeated, because its body can be read only once.
 */
export function renewSession(signedIn: {
  readonly identity?: PortalIdentity;
}): FetchMiddleware {
  return {
    apply: next => async (input, init) => {
      const { identity } = signedIn;
      const isRepeatable =
        !(input instanceof Request) && String(input).startsWith(DIRECTORY);
      if (!identity || !isRepeatable) {
        return next(input, init);
      }
      await identity.getCredentials(); // renews the session if it is due
      const { session } = identity;
      const response = await next(input, init);
      return (await isTokenRefused(response)) &&
        (await identity.renewRefused(session))
        ? next(input, init)
        : response;
    },
  };
}

async function isTokenRefused(response: Response): Promise<boolean> {
  if (response.status !== 403) {
    return response.status === 401;
  }
  const body = await response
    .clone()
    .json()
    .catch(() => undefined);
  return body?.reason === 'recent_sign_in_required';
}

/** How the sign-in page continues when this tab is reloaded. */
type TabState =
  /** A guest has a session and is signed in again. */
  | { readonly kind: 'guest' }
  /** The user has signed out. */
  | { readonly kind: 'signedOut' }
  | {
      /** The account was refused, which ended the session. */
      readonly kind: 'refused';
      /** The `reason` in the response to the renewal. */
      readonly reason: string;
    };

const KEY = 'kerberos-sign-in:state';

/**
 * State of the sign-in in this tab; `undefined` at first and while a user has a
 * session. Without it, the page would sign the user in again after the end of a
 * session, because the ticket is still valid.
 */
export const tabState = {
  set(state: TabState | undefined): void {
    withStorage(storage =>
      state
        ? storage.setItem(KEY, JSON.stringify(state))
        : storage.removeItem(KEY),
    );
  },
  get(): TabState | undefined {
    return (
      withStorage(storage => JSON.parse(storage.getItem(KEY)!)) ?? undefined
    );
  },
};

/**
 * Runs an action on the session storage, if the browser allows access to it.
 */
function withStorage<T>(action: (storage: Storage) => T): T | undefined {
  try {
    return action(window.sessionStorage);
  } catch {
    return undefined;
  }
}
