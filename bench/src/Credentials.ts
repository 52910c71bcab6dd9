/** How a request says who is calling. */
export type Mode = 'negotiate' | 'token';

/** What one request is sent with. */
export interface Credential {
  /** The value of the `Authorization` header. */
  readonly authorization: string;
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
  stop(): Promise<void>;
}
