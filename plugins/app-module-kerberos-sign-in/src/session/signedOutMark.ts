const KEY = 'kerberos-sign-in:signed-out';

/**
 * Remembers, for this tab, that its person signed out: the ticket is still
 * there, so the page would let them in again at once.
 */
export const signedOutMark = {
  set(): void {
    withStorage(storage => storage.setItem(KEY, 'yes'));
  },
  clear(): void {
    withStorage(storage => storage.removeItem(KEY));
  },
  isSet(): boolean {
    return withStorage(storage => storage.getItem(KEY)) === 'yes';
  },
};

/** A browser may keep its storage from pages; then nothing is remembered. */
function withStorage<T>(action: (storage: Storage) => T): T | undefined {
  try {
    return action(window.sessionStorage);
  } catch {
    return undefined;
  }
}
