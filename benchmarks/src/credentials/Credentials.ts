/**
 * How a request says who is calling: with a Kerberos token of its own, with the
 * cookie that was given for one, or with a token of the portal.
 */
export type Mode = (typeof modes)[number];

/** All of them, in the order of the table. */
export const modes = ['session', 'negotiate', 'token'] as const;

/** What one request is sent with. */
export interface Credential {
  /** The headers that say who is calling. */
  readonly headers: Readonly<Record<string, string>>;
  /** The directory user who is calling. */
  readonly username: string;
}

/** Where the load generator gets its credentials, outside what is measured. */
export interface Credentials {
  readonly mode: Mode;
  /** Those who call, each as often as the others. */
  readonly usernames: readonly string[];
  /** Makes sure that `next` has so many more to give. */
  prepare(count: number): Promise<void>;
  /** One for a request; `undefined` when all are used up. */
  next(): Credential | undefined;
}
