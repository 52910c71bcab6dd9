import {
  type ConfigApi,
  coreApis,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import type { SignInPageProps } from '@backstage/plugin-app-react';
import { Button, Card, CardBody, Flex, Link, Text } from '@backstage/ui';
import clsx from 'clsx';
import { useEffect, useId } from 'react';
import { detectClient, suggestFixes, type SelfDescription } from '../fixes';
import { kerberosSignInTranslationRef, reasonMessages } from '../translation';
import { FixStep } from './FixStep';
import styles from './KerberosSignInPage.module.css';
import { type SignInState, useSignIn } from './useSignIn';

/** A smaller title on narrow screens, so that it fits on one line. */
const TITLE = { initial: 'title-small', sm: 'title-medium' } as const;

/**
 * Signs in users with a ticket before the page appears. Other users see what
 * failed, what to do about it, and a retry button.
 */
export function KerberosSignInPage(
  props: SignInPageProps & {
    readonly autoSignIn: boolean;
    readonly realm?: string;
    readonly helpUrl?: string;
  },
) {
  const { autoSignIn, realm, helpUrl, onSignInSuccess } = props;
  const { t } = useTranslationRef(kerberosSignInTranslationRef);
  const config = useApi(coreApis.config);
  const { state, signIn } = useSignIn({ autoSignIn, onSignInSuccess });
  const stateText = useStateText(state);
  const titleId = useId();

  const title = config.getOptionalString('app.title') ?? 'Backstage';
  const guest = readGuest(config);
  const client = detectClient(navigator as SelfDescription);
  const host = window.location.hostname;
  const failure = failureIn(state);
  const fixes = failure ? suggestFixes({ failure, client, host, realm }) : [];
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
                {stateText}
              </Text>
              {state.kind === 'failed' && state.retryIn !== undefined && (
                // Not a live region: it changes every second.
                <Text as="p" role="timer">
                  {t('state.retry', { count: state.retryIn })}
                </Text>
              )}
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
                {t(failure ? 'action.tryAgain' : 'action.signIn')}
              </Button>
              {guest && (
                <Button variant="secondary" onPress={() => signIn('guest')}>
                  {t('action.enterAs', { name: guest })}
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

function failureIn(state: SignInState) {
  if (state.kind === 'failed') {
    return state.failure;
  }
  return state.kind === 'signingIn' ? state.after : undefined;
}

/**
 * Returns the name of the guest, for example `Alice`, if the guest provider is
 * configured and enabled: in development, or elsewhere if explicitly allowed.
 */
function readGuest(config: ConfigApi): string | undefined {
  const guest = config.getOptionalConfig('auth.providers.guest');
  const isEnabled =
    process.env.NODE_ENV === 'development' ||
    guest?.getOptionalBoolean('dangerouslyAllowOutsideDevelopment') === true;
  if (!guest || !isEnabled) {
    return undefined;
  }
  const ref = guest.getOptionalString('userEntityRef') ?? 'guest';
  const name = ref.slice(ref.search(/[^:/]*$/));
  return name.charAt(0).toLocaleUpperCase('en') + name.slice(1);
}

/** Returns the message for a state. */
function useStateText(state: SignInState): string {
  const { t } = useTranslationRef(kerberosSignInTranslationRef);
  const failure = failureIn(state);
  // An outage stays visible while the page retries, and is announced once.
  if (!failure || (state.kind === 'signingIn' && failure.kind === 'refused')) {
    return t(`state.${state.kind as Exclude<SignInState['kind'], 'failed'>}`);
  }
  if (failure.kind !== 'refused') {
    const message = failure.kind === 'unavailable' && failure.message;
    return message || t(`state.${failure.kind}`);
  }
  const { reason, minutesAhead = 0, message } = failure;
  if (reason === 'clock_skew' && minutesAhead !== 0) {
    return t(minutesAhead > 0 ? 'clock.ahead' : 'clock.behind', {
      count: Math.abs(minutesAhead),
    });
  }
  // Reasons without a translation show the server's message.
  return isKnownReason(reason)
    ? t(`reason.${reason}`)
    : message || t('state.unavailable');
}

function isKnownReason(reason: string): reason is keyof typeof reasonMessages {
  return Object.hasOwn(reasonMessages, reason);
}
