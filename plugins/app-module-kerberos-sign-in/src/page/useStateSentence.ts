import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type { SignInProblem } from '../session/SignInError';
import { kerberosSignInTranslationRef } from '../translation';
import type { SignInState } from './SignInState';

/** The refusals that the page has words for; others keep the server's. */
const KNOWN_REASONS = [
  'no_credentials',
  'ntlm_refused',
  'clock_skew',
  'unknown_service_key',
  'replayed',
  'realm_refused',
  'malformed_token',
  'token_too_large',
  'continuation_required',
  'unknown_principal',
  'account_locked',
  'account_expired',
  'service_principal',
  'unusable_name',
] as const;

/** One sentence that says what happened. */
export function useStateSentence(state: SignInState): string {
  const { t } = useTranslationRef(kerberosSignInTranslationRef);

  function sentenceOf(problem: SignInProblem): string {
    if (problem.kind === 'unreachable') {
      return t('state.unreachable');
    }
    if (problem.kind === 'unavailable') {
      return problem.message || t('state.unavailable');
    }
    const { reason, minutesAhead = 0, message } = problem;
    if (reason === 'clock_skew' && minutesAhead !== 0) {
      return t(minutesAhead > 0 ? 'clock.ahead' : 'clock.behind', {
        count: Math.abs(minutesAhead),
      });
    }
    const known = KNOWN_REASONS.find(each => each === reason);
    return known ? t(`reason.${known}`) : message || t('state.unavailable');
  }

  return state.kind === 'failed'
    ? sentenceOf(state.problem)
    : t(`state.${state.kind}`);
}
