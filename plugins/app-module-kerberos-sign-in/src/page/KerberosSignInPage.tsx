import {
  configApiRef,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import type { SignInPageProps } from '@backstage/plugin-app-react';
import { Button, Card, CardBody, Flex, Link, Text } from '@backstage/ui';
import clsx from 'clsx';
import { useEffect, useId } from 'react';
import { fixesFor } from '../fixes';
import { detectClient, type SelfDescription } from '../fixes/Client';
import { kerberosSignInTranslationRef } from '../translation';
import { FixStep } from './FixStep';
import { guestOf } from './guestOf';
import styles from './KerberosSignInPage.module.css';
import type { SignInState } from './SignInState';
import { useSignIn } from './useSignIn';
import { useStateSentence } from './useStateSentence';

/** Two words fit on the narrowest screen in one line. */
const TITLE = { initial: 'title-small', sm: 'title-medium' } as const;

/** What the extension's configuration says; see the module. */
export interface KerberosSignInPageProps extends SignInPageProps {
  readonly autoSignIn: boolean;
  readonly realm?: string;
  readonly helpUrl?: string;
}

/**
 * Lets in whoever has a ticket, before there is anything to see. To everybody
 * else: what happened, what to do about it, and another try.
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
