/** Milliseconds for which a result is shared. */
const SHARED_MS = 1000;

/**
 * Wraps a read for callers without credentials: calls while it is pending and
 * for a second after it share its result or error.
 */
export function oncePerSecond<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  let expiresAt = Infinity;
  return () => {
    if (!last || performance.now() >= expiresAt) {
      const settle = () => {
        expiresAt = performance.now() + SHARED_MS;
      };
      expiresAt = Infinity;
      last = read();
      last.then(settle, settle);
    }
    return last;
  };
}
