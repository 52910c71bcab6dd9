import type { FreeIpaServer } from './FreeIpaServer';

/** A way to log in to FreeIPA. */
export interface Login {
  /**
   * Logs in at a server.
   *
   * @returns the session, as a value for the `Cookie` header.
   * @throws NoVerdictError with `executed: 'no'`, whatever the reason.
   */
  logIn(server: FreeIpaServer): Promise<string>;
}
