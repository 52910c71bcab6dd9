import type { IdentityApi, ProfileInfo } from '@backstage/frontend-plugin-api';
import type { PortalSession } from './PortalSession';

/** Of a session that does not say when it ends. */
const DEFAULT_LIFETIME_MS = 5 * 60_000;
/** A session is renewed so long before its end, at the latest. */
const LARGEST_MARGIN_MS = 5 * 60_000;
/** Of a short session, this part is left when it is renewed. */
const MARGIN_PART = 0.2;

/**
 * The signed-in person. The session is renewed when somebody needs it shortly
 * before its end, once for all who need it then. Time is measured from when it
 * came: the clocks of browser and server may differ.
 */
export class PortalIdentity implements IdentityApi {
  readonly #fetchSession: () => Promise<PortalSession>;
  readonly #onSignOut: () => void;
  #session: PortalSession;
  #renewAt = 0;
  #endsAt = 0;
  #renewal: Promise<void> | undefined;

  constructor(options: {
    readonly session: PortalSession;
    /** Gets the next session. */
    readonly fetchSession: () => Promise<PortalSession>;
    readonly onSignOut: () => void;
  }) {
    this.#fetchSession = options.fetchSession;
    this.#onSignOut = options.onSignOut;
    this.#session = options.session;
    this.#keep(options.session);
  }

  async getProfileInfo(): Promise<ProfileInfo> {
    return this.#session.profile;
  }

  async getBackstageIdentity() {
    return this.#session.backstageIdentity.identity;
  }

  /** @throws SignInError when the session has ended and there is no other */
  async getCredentials(): Promise<{ token?: string }> {
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
        // What is still good goes on while the server or the ticket is away.
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
