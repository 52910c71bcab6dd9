import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, Flex, Skeleton } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { useEffect } from 'react';
import { ErrorState, FailureAlert } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import { StepFrame } from './StepFrame';
import { type SigningOrder, useSigning, useVerdict } from './useSigning';
import { VerdictRules } from './VerdictRules';

/** Options of {@link CheckStep}. */
export interface CheckStepProps {
  order: SigningOrder;
  onBack: () => void;
  onSigned: (certificate: Certificate) => void;
}

/** May it be signed? Every rule answers before anything is. */
export function CheckStep({ order, onBack, onSigned }: CheckStepProps) {
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
