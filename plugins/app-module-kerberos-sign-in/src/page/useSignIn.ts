import {
  discoveryApiRef,
  useApi,
  type IdentityApi,
} from '@backstage/frontend-plugin-api';
import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchSession, type ProviderId } from '../session/fetchSession';
import { PortalIdentity } from '../session/PortalIdentity';
import { sessionEnd } from '../session/sessionEnd';
import { problemOf } from '../session/SignInError';
import type { SignInState } from './SignInState';

/**
 * Signs in at once, unless a session of this tab has ended or the site requires
 * a click; after that only on a click, so that there is no loop.
 */
export function useSignIn(options: {
  readonly autoSignIn: boolean;
  readonly onSignInSuccess: (identity: IdentityApi) => void;
}): {
  readonly state: SignInState;
  readonly signIn: (provider: ProviderId) => void;
} {
  const { autoSignIn, onSignInSuccess } = options;
  const discoveryApi = useApi(discoveryApiRef);
  const [state, setState] = useState<SignInState>(() =>
    initialState(autoSignIn),
  );
  const attempt = useRef<AbortController>();

  const signIn = useCallback(
    async (provider: ProviderId) => {
      attempt.current?.abort();
      const { signal } = (attempt.current = new AbortController());
      setState(started);
      try {
        const source = { provider, discoveryApi };
        const session = await fetchSession({ ...source, signal });
        if (!signal.aborted) {
          sessionEnd.clear();
          onSignInSuccess(
            new PortalIdentity({
              session,
              fetchSession: () => fetchSession(source),
              onSignOut: () => sessionEnd.set({ kind: 'signedOut' }),
              onRefused: reason => {
                sessionEnd.set({ kind: 'refused', reason });
                // Only a new page has no data of the session.
                window.location.reload();
              },
            }),
          );
        }
      } catch (error) {
        if (!signal.aborted) {
          setState({ kind: 'failed', problem: problemOf(error) });
        }
      }
    },
    [discoveryApi, onSignInSuccess],
  );

  // What the first picture says is under way; the state says whether.
  const isFirst = useRef(state.kind === 'signingIn');
  useEffect(() => {
    if (isFirst.current) {
      signIn('kerberos');
    }
    return () => attempt.current?.abort();
  }, [signIn]);

  return { state, signIn };
}

function initialState(autoSignIn: boolean): SignInState {
  const end = sessionEnd.get();
  if (end) {
    return end.kind === 'refused'
      ? { kind: 'failed', problem: { ...end, message: '' } }
      : end;
  }
  return autoSignIn ? { kind: 'signingIn', silently: true } : { kind: 'ready' };
}

function started(before: SignInState): SignInState {
  return before.kind === 'signingIn'
    ? before
    : {
        kind: 'signingIn',
        silently: false,
        after: before.kind === 'failed' ? before.problem : undefined,
      };
}
