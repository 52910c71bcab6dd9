const KEY = 'kerberos-sign-in:session-end';
const SIGNED_OUT = 'signed_out';

/** How the session of this tab ended. */
export type SessionEnd =
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
