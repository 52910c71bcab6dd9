import { useApi, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, Flex, Skeleton, Text } from '@backstage/ui';
import type {
  Certificate,
  SigningVerdict,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiQuestionLine,
} from '@remixicon/react';
import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { directoryApiRef } from '../../api/directoryApi';
import { DirectoryText } from '../../components/DirectoryText';
import { ErrorState, FailureAlert } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import styles from './CheckStep.module.css';
import { StepFrame } from './Stepper';

/** A signing request. */
interface SigningOrder {
  username: string;

  profile: string;

  /** PEM. */
  csr: string;
}

/** Shows the result of each rule before the request is signed. */
export function CheckStep(props: {
  order: SigningOrder;
  onBack: () => void;
  onSigned: (certificate: Certificate) => void;
}) {
  const { order, onBack, onSigned } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data: verdict, error, mutate: check } = useVerdict();
  const signing = useSigning();

  useEffect(() => check(order), [check, order]);

  function handleSign() {
    if (!signing.isPending) {
      signing.mutate(order, { onSuccess: onSigned });
    }
  }

  return (
    <StepFrame
      title={t('certificates.newOne.check.title')}
      actions={
        <>
          <Button
            variant="secondary"
            onPress={onBack}
            isDisabled={signing.isPending}
          >
            {t('certificates.newOne.back')}
          </Button>
          <Button isDisabled={!verdict?.would_sign} onPress={handleSign}>
            {signing.isPending
              ? t('certificates.newOne.check.signing')
              : t('certificates.newOne.check.sign')}
          </Button>
        </>
      }
    >
      {error && <ErrorState error={error} onRetry={() => check(order)} />}
      {!verdict && !error && (
        <Flex
          direction="column"
          gap="3"
          role="status"
          aria-label={t('certificates.newOne.check.checking')}
        >
          <Skeleton width="100%" height={280} />
        </Flex>
      )}
      {verdict && (
        <>
          <VerdictRules rules={verdict.rules} />
          <Alert
            role="status"
            status={verdict.would_sign ? 'success' : 'warning'}
            icon
            title={t(
              verdict.would_sign
                ? 'certificates.newOne.check.ready'
                : 'certificates.newOne.check.refused',
            )}
          />
        </>
      )}
      {signing.error && <FailureAlert error={signing.error} />}
    </StepFrame>
  );
}

const marks = {
  passed: <RiCheckboxCircleLine aria-hidden="true" />,
  failed: <RiCloseCircleLine aria-hidden="true" />,
  open: <RiQuestionLine aria-hidden="true" />,
};

/** The rules, each with its result and message. */
function VerdictRules({ rules }: { rules: SigningVerdict['rules'] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <ul className={styles.rules}>
      {rules.map(({ rule, passed, message }) => {
        const state = stateOf(passed);
        return (
          <li key={rule} className={styles.rule}>
            <span className={styles[state]}>
              {marks[state]}
              <span className={styles.state}>
                {t(`certificates.newOne.check.${state}`)}
              </span>
            </span>
            <span className={styles.words}>
              <Text as="p" weight="bold">
                {t(`certificates.newOne.rule.${rule}`)}
              </Text>
              {passed !== null && (
                <Text as="p" variant="body-small" color="secondary">
                  <DirectoryText value={message} />
                </Text>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function stateOf(passed: boolean | null): keyof typeof marks {
  if (passed === null) {
    return 'open';
  }
  return passed ? 'passed' : 'failed';
}

/** Checks a signing request without signing it. */
function useVerdict() {
  const { client, queries } = useApi(directoryApiRef);
  return useMutation(
    {
      mutationFn: async (order: SigningOrder) => {
        const { data } = await client.post('/certs/', {
          body: { ...bodyOf(order), dry_run: 'true' as const },
        });
        return data.result;
      },
      networkMode: 'always',
      gcTime: 0,
    },
    queries,
  );
}

/** Signs a request. */
function useSigning() {
  const { client, queries } = useApi(directoryApiRef);
  return useMutation(
    {
      mutationFn: async (order: SigningOrder) => {
        const { data } = await client.post('/certs/', { body: bodyOf(order) });
        return data.result;
      },
      onSuccess: () =>
        queries.invalidateQueries({
          queryKey: ['directory', 'my-certificates'],
        }),
      networkMode: 'always',
      gcTime: 0,
    },
    queries,
  );
}

function bodyOf({ username, profile, csr }: SigningOrder) {
  return { user: username, csr, profile };
}
