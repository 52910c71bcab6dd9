import {
  coreApis,
  type IdentityApi,
  useApi,
} from '@backstage/frontend-plugin-api';
import { useCallback, useEffect, useRef, useState } from 'react';
import {
  fetchSession,
  retryDelay,
  toFailure,
  type ProviderId,
  type SignInFailure,
} from '../session/fetchSession';
import {
  PortalIdentity,
  signedInApiRef,
  tabState,
} from '../session/PortalIdentity';

/** State of the sign-in. */
export type SignInState =
  /** Waits for a click, because `autoSignIn` is false. */
  | { readonly kind: 'ready' }
  /** The user has signed out in this tab. */
  | { readonly kind: 'signedOut' }
  /** A request is running. */
  | {
      readonly kind: 'signingIn';
      /** Whether it started without a click. The page is then hidden. */
      readonly silently: boolean;
      /** Previous failure, shown until there is a response. */
      readonly after?: SignInFailure;
    }
  | {
      readonly kind: 'failed';
      readonly failure: SignInFailure;
      readonly provider: ProviderId;
      /** Seconds until an automatic retry, if any. */
      readonly retryIn?: number;
    };

/**
 * Signs in immediately, unless a session in this tab has ended or `autoSignIn`
 * is false. After a refusal, the next attempt requires a click, which prevents
 * loops. Guests stay signed in when the page is reloaded.
 */
export function useSignIn(options: {
  readonly autoSignIn: boolean;
  readonly onSignInSuccess: (identity: IdentityApi) => void;
}): {
  readonly state: SignInState;
  readonly signIn: (provider: ProviderId) => void;
} {
  const { autoSignIn } = options;
  const discoveryApi = useApi(coreApis.discovery);
  const signedIn = useApi(signedInApiRef);
  const [state, setState] = useState<SignInState>(() =>
    initialState(autoSignIn),
  );
  const attempt = useRef<AbortController>();
  // A ref, because the caller may pass a new function on every render, which
  // must not start another attempt.
  const onSignInSuccess = useRef(options.onSignInSuccess);
  onSignInSuccess.current = options.onSignInSuccess;

  const signIn = useCallback(
    async (provider: ProviderId) => {
      attempt.current?.abort();
      const { signal } = (attempt.current = new AbortController());
      setState(started);
      try {
        const source = { provider, discoveryApi };
        const session = await fetchSession({ ...source, signal });
        if (!signal.aborted) {
          tabState.set(provider === 'guest' ? { kind: 'guest' } : undefined);
          const identity = new PortalIdentity({
            session,
            fetchSession: () => fetchSession(source),
            onSignOut: () => tabState.set({ kind: 'signedOut' }),
            onRefused: reason => {
              tabState.set({ kind: 'refused', reason });
              // A reload discards all data of the session.
              window.location.reload();
            },
          });
          signedIn.identity = identity;
          onSignInSuccess.current(identity);
        }
      } catch (error) {
        if (!signal.aborted) {
          const failure = toFailure(error);
          if (failure.kind === 'refused' && isGuest()) {
            tabState.set(undefined);
          }
          // Sites without autoSignIn have browsers that ask for a password.
          const retryIn = autoSignIn ? retryDelay(failure) : undefined;
          setState({ kind: 'failed', failure, provider, retryIn });
        }
      }
    },
    [autoSignIn, discoveryApi, signedIn],
  );

  // Sends the request that the initial state implies.
  const isSilent = useRef(state.kind === 'signingIn');
  useEffect(() => {
    if (isSilent.current) {
      signIn(isGuest() ? 'guest' : 'kerberos');
    }
    return () => attempt.current?.abort();
  }, [signIn]);

  useEffect(() => {
    if (state.kind !== 'failed' || state.retryIn === undefined) {
      return undefined;
    }
    const left = state.retryIn - 1;
    const timer = setTimeout(
      () =>
        left > 0
          ? setState({ ...state, retryIn: left })
          : signIn(state.provider),
      1000,
    );
    return () => clearTimeout(timer);
  }, [state, signIn]);

  return { state, signIn };
}

function isGuest(): boolean {
  return tabState.get()?.kind === 'guest';
}

function initialState(autoSignIn: boolean): SignInState {
  const state = tabState.get();
  switch (state?.kind) {
    case 'signedOut':
      return state;
    case 'refused': {
      const failure = { ...state, message: '' };
      return { kind: 'failed', failure, provider: 'kerberos' };
    }
    default:
      return autoSignIn || state
        ? { kind: 'signingIn', silently: true }
        : { kind: 'ready' };
  }
}

function started(before: SignInState): SignInState {
  return before.kind === 'signingIn'
    ? before
    : {
        kind: 'signingIn',
        silently: false,
        after: before.kind === 'failed' ? before.failure : undefined,
      };
}
