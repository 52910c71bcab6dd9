import {
  ApiBlueprint,
  AppRootElementBlueprint,
  createApiRef,
  useApi,
} from '@backstage/frontend-plugin-api';
import {
  type Certificate,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react';
import { isSessionEnded } from '../../api/directoryApi';
import type { GeneratedCsr } from './generateCsr';

const UnsavedKeysBar = lazy(() =>
  import('./UnsavedKeysBar').then(m => ({ default: m.UnsavedKeysBar })),
);

/** A generated key that the user has neither saved nor discarded. */
export interface UnsavedKey extends Pick<GeneratedCsr, 'id' | 'privateKey'> {
  /** Owner of the key. */
  readonly username: string;

  /** Serial number of the certificate to renew, if any. */
  readonly renews: bigint | undefined;

  /** Whether a response is expected. */
  readonly isPending: boolean;

  /**
   * `undefined` while the request is pending, and after a failure that does not
   * exclude that a certificate was issued.
   */
  readonly certificate?: Certificate;
}

/**
 * Unsaved keys of this tab. They are only in memory: neither in a storage nor
 * in the history of the browser.
 */
export class UnsavedKeys {
  #keys: readonly UnsavedKey[] = [];
  readonly #listeners = new Set<() => void>();

  /** Returns the keys, oldest first. */
  readonly list = (): readonly UnsavedKey[] => this.#keys;

  /** Calls a listener after each change. Returns a function that unsubscribes it. */
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Holds a key, sends the request for its certificate and adds the certificate
   * to the key. When the server rejects the request (4xx), or the session
   * has ended before it, the key is removed, unless an earlier request with it may have succeeded.
   */
  async request(
    key: Omit<UnsavedKey, 'isPending' | 'certificate'>,
    send: () => Promise<Certificate>,
  ): Promise<Certificate> {
    const isKey = ({ id }: UnsavedKey) => id === key.id;
    const isHeld = this.#keys.some(isKey);
    const update = (change: Partial<UnsavedKey>) =>
      this.#set(
        this.#keys.map(held => (isKey(held) ? { ...held, ...change } : held)),
      );
    this.#set([
      ...this.#keys.filter(held => !isKey(held)),
      { ...key, isPending: true },
    ]);
    try {
      const certificate = await send();
      update({ isPending: false, certificate });
      return certificate;
    } catch (error) {
      const isRejected =
        isSessionEnded(error) ||
        (isDirectoryResponseError(error) && error.status < 500);
      if (!isHeld && isRejected) {
        this.remove(isKey);
      } else {
        update({ isPending: false });
      }
      throw error;
    }
  }

  /** Removes all keys that match. */
  remove(matches: (key: UnsavedKey) => boolean): void {
    this.#set(this.#keys.filter(key => !matches(key)));
  }

  #set(keys: readonly UnsavedKey[]): void {
    this.#keys = keys;
    this.#listeners.forEach(listener => listener());
  }
}

/** Reference to the {@link UnsavedKeys}. */
export const unsavedKeysApiRef = createApiRef<UnsavedKeys>().with({
  id: 'plugin.directory.unsaved-keys',
  pluginId: 'directory',
});

/** Provides the {@link UnsavedKeys} to all pages. */
export const unsavedKeysApi = ApiBlueprint.make({
  name: 'unsaved-keys',
  params: defineParams =>
    defineParams({
      api: unsavedKeysApiRef,
      deps: {},
      factory: () => new UnsavedKeys(),
    }),
});

/** Returns the unsaved keys of all users, oldest first. */
export function useUnsavedKeys(): readonly UnsavedKey[] {
  const keys = useApi(unsavedKeysApiRef);
  return useSyncExternalStore(keys.subscribe, keys.list);
}

/**
 * Asks before the user closes or reloads the tab or signs out while there are
 * unsaved keys, and removes the keys when the page is left: the browser may keep
 * the page, and the next user could go back to it.
 */
function UnsavedKeysRoot() {
  const keys = useApi(unsavedKeysApiRef);
  const hasKeys = useUnsavedKeys().length > 0;

  useEffect(() => {
    if (!hasKeys) {
      return undefined;
    }
    const ask = (event: Event) => event.preventDefault();
    const removeAll = () => keys.remove(() => true);
    window.addEventListener('beforeunload', ask);
    window.addEventListener('pagehide', removeAll);
    return () => {
      window.removeEventListener('beforeunload', ask);
      window.removeEventListener('pagehide', removeAll);
    };
  }, [keys, hasKeys]);

  return hasKeys ? (
    <Suspense fallback={null}>
      <UnsavedKeysBar />
    </Suspense>
  ) : null;
}

/** The bar on every page: `app-root-element:directory/unsaved-keys`. */
export const unsavedKeysElement = AppRootElementBlueprint.make({
  name: 'unsaved-keys',
  params: { element: <UnsavedKeysRoot /> },
});
