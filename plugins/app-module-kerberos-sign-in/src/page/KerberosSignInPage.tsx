import {
  type ConfigApi,
  configApiRef,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import type { SignInPageProps } from '@backstage/plugin-app-react';
import { Button, Card, CardBody, Flex, Link, Text } from '@backstage/ui';
import clsx from 'clsx';
import { useEffect, useId } from 'react';
import { detectClient, fixesFor, type SelfDescription } from '../fixes';
import type { SignInProblem } from '../session/fetchSession';
import { kerberosSignInTranslationRef } from '../translation';
import { FixStep } from './FixStep';
import styles from './KerberosSignInPage.module.css';
import { type SignInState, useSignIn } from './useSignIn';

/** Sizes at which two words fit on one line of a narrow screen. */
const TITLE = { initial: 'title-small', sm: 'title-medium' } as const;

/** Configuration of the extension, see the module. */
interface KerberosSignInPageProps extends SignInPageProps {
  readonly autoSignIn: boolean;
  readonly realm?: string;
  readonly helpUrl?: string;
}

/**
 * Signs in users who have a ticket before the page is shown. Other users see
 * what failed, what to do about it, and a button to try again.
 */
export function KerberosSignInPage(props: KerberosSignInPageProps) {
  const { autoSignIn, realm, helpUrl, onSignInSuccess } = props;
  const { t } = useTranslationRef(kerberosSignInTranslationRef);
  const config = useApi(configApiRef);
  const { state, signIn } = useSignIn({ autoSignIn, onSignInSuccess });
  const sentence = useStateSentence(state);
  const titleId = useId();

  const title = config.getOptionalString('app.title') ?? 'Backstage';
  const guest = guestOf(config);
  const client = detectClient(navigator as SelfDescription);
  const host = window.location.hostname;
  const problem = problemIn(state);
  const fixes = problem ? fixesFor({ problem, client, host, realm }) : [];
  const isSilent = state.kind === 'signingIn' && state.silently;

  useEffect(() => {
    document.title = title;
  }, [title]);

  return (
    <main className={styles.page} aria-labelledby={titleId}>
      <Card className={clsx(styles.card, isSilent && styles.silent)}>
        <CardBody>
          <Flex direction="column" gap="5" p="3">
            <Flex direction="column" gap="2">
              <Text as="h1" variant={TITLE} weight="bold" id={titleId}>
                {title}
              </Text>
              <Text as="p" variant="body-large" role="status">
                {sentence}
              </Text>
            </Flex>
            {fixes.length > 0 && (
              <ol className={styles.fixes}>
                {fixes.map(fix => (
                  <li key={fix.kind}>
                    <FixStep fix={fix} browser={client.browser} host={host} />
                  </li>
                ))}
              </ol>
            )}
            <Flex align="center" gap="3" className={styles.actions}>
              <Button
                isPending={state.kind === 'signingIn'}
                onPress={() => signIn('kerberos')}
              >
                {t(problem ? 'action.tryAgain' : 'action.signIn')}
              </Button>
              {guest && (
                <Button variant="secondary" onPress={() => signIn('guest')}>
                  {t('action.enterAs', { name: guest.name })}
                </Button>
              )}
              {helpUrl && <Link href={helpUrl}>{t('action.help')}</Link>}
            </Flex>
          </Flex>
        </CardBody>
      </Card>
    </main>
  );
}

function problemIn(state: SignInState) {
  switch (state.kind) {
    case 'failed':
      return state.problem;
    case 'signingIn':
      return state.after;
    default:
      return undefined;
  }
}

/** User of the guest provider. */
interface Guest {
  /** Display name, for example `Alice`. */
  readonly name: string;
}

/**
 * Returns the guest when the guest provider is configured and enabled: in
 * development, or outside of it when that is explicitly allowed.
 */
function guestOf(config: ConfigApi): Guest | undefined {
  const guest = config.getOptionalConfig('auth.providers.guest');
  const isOpen =
    process.env.NODE_ENV === 'development' ||
    guest?.getOptionalBoolean('dangerouslyAllowOutsideDevelopment') === true;
  if (!guest || !isOpen) {
    return undefined;
  }
  const ref = guest.getOptionalString('userEntityRef') ?? 'guest';
  const name = ref.slice(ref.search(/[^:/]*$/));
  return { name: name.charAt(0).toLocaleUpperCase('en') + name.slice(1) };
}

/** Refusals with a translation; others show the server's message. */
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

/** Returns a sentence that describes the state. */
function useStateSentence(state: SignInState): string {
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
