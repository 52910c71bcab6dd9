import { useApi, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, Text, TextField } from '@backstage/ui';
import {
  type Certificate,
  type CertificateProfile,
  isDirectoryResponseError,
  type SigningCheck,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiQuestionLine,
} from '@remixicon/react';
import { useEffect } from 'react';
import {
  useCertificateAuthority,
  useDirectoryMutation,
} from '../../api/useDirectoryQuery';
import { DirectoryText } from '../../components/DirectoryText';
import { LoadingBlocks } from '../../page/loading';
import { ErrorState, FailureAlert } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { MAX_LABEL_LENGTH } from '../LabelDialog';
import type { GeneratedCsr } from '../key/generateCsr';
import { unsavedKeysApiRef } from '../key/unsavedKeys';
import { ALL_FIELDS } from '../userCertificates';
import styles from './CheckStep.module.css';
import { draft } from './KeyStep';
import { useProfileText } from './ProfileStep';
import { StepFrame } from './Stepper';

/** Shows the request and the result of each rule before it is signed. */
export function CheckStep(props: {
  request: SigningRequest;

  /** Storage key of the CSR: see {@link draft}. */
  draftKey: string;

  /** The key of the request if it was generated in the browser. */
  generated: GeneratedCsr | undefined;

  /** The profile of the request. */
  profile: CertificateProfile;

  /** Label of the certificate. A renewal keeps it. */
  label: string;
  onLabel: (label: string) => void;

  /** Serial number of the certificate to renew. Defaults to none. */
  renews: bigint | undefined;
  onBack: () => void;
  onIssued: (certificate: Certificate) => void;
}) {
  const { request, draftKey, generated, profile, label, onLabel } = props;
  const { renews, onBack, onIssued } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { title: purpose, description } = useProfileText()(profile);
  const { data: evaluation, error, mutate: check } = usePolicyEvaluation();
  const signing = useSigning({ draftKey, generated, renews });

  useEffect(() => check(request), [check, request]);

  function handleRequest() {
    if (!signing.isPending) {
      signing.mutate(
        { ...request, label: label.trim() || undefined },
        { onSuccess: onIssued },
      );
    }
  }

  return (
    <StepFrame
      title={t('request.check.title')}
      actions={
        <>
          <Button
            variant="secondary"
            onPress={onBack}
            isDisabled={signing.isPending}
          >
            {t('request.back')}
          </Button>
          <Button isDisabled={!evaluation?.would_sign} onPress={handleRequest}>
            {t(
              signing.isPending
                ? 'request.check.requesting'
                : 'request.check.request',
            )}
          </Button>
        </>
      }
    >
      <Facts
        facts={[
          { name: t('certificate.owner'), value: request.user },
          {
            name: t('certificate.purpose'),
            value: (
              <>
                {purpose}
                <Text as="p" variant="body-small" color="secondary">
                  {description}
                </Text>
              </>
            ),
          },
        ]}
      />
      {renews === undefined && (
        <TextField
          label={t('certificate.label.name')}
          description={t('request.check.labelHint', {
            length: String(MAX_LABEL_LENGTH),
          })}
          value={label}
          onChange={onLabel}
          maxLength={MAX_LABEL_LENGTH}
          isDisabled={signing.isPending}
          autoComplete="off"
        />
      )}
      <ValidityNote />
      {error && <ErrorState error={error} onRetry={() => check(request)} />}
      {!evaluation && !error && (
        <LoadingBlocks heights={[280]} label={t('request.check.checking')} />
      )}
      {evaluation && (
        <>
          <PolicyChecks rules={evaluation.rules} />
          <Alert
            role="status"
            status={evaluation.would_sign ? 'success' : 'warning'}
            icon
            title={t(
              evaluation.would_sign
                ? 'request.check.allPassed'
                : 'request.check.someFailed',
            )}
          />
        </>
      )}
      {signing.error && (
        <FailureAlert error={signing.error} onRetry={handleRequest} />
      )}
    </StepFrame>
  );
}

/** States how long the certificate stays valid if the CA cannot end it. */
function ValidityNote() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const authority = useCertificateAuthority();
  if (!authority || (authority.can_revoke && authority.can_hold)) {
    return null;
  }
  return (
    <Text as="p" color="secondary">
      {t(
        authority.can_revoke
          ? 'certificate.noHold'
          : 'certificate.noRevocation',
      )}
    </Text>
  );
}

const icons = {
  passed: <RiCheckboxCircleLine aria-hidden="true" />,
  failed: <RiCloseCircleLine aria-hidden="true" />,
  open: <RiQuestionLine aria-hidden="true" />,
};

/** Rules that fail for different reasons: the message of the API is shown too. */
const HAS_DETAILS: ReadonlySet<string> = new Set([
  'requester',
  'request',
  'key',
]);

function PolicyChecks({ rules }: { rules: SigningCheck['rules'] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <ul className={styles.rules}>
      {rules.map(({ rule, passed, message }) => {
        const state = stateOf(passed);
        return (
          <li key={rule} className={styles.rule}>
            <span className={styles[state]}>
              {icons[state]}
              <span className={styles.state}>
                {t(`request.check.${state}`)}
              </span>
            </span>
            <span className={styles.text}>
              <Text as="p" weight="bold">
                {t(
                  `request.${state === 'failed' ? 'failure' : 'rule'}.${rule}`,
                )}
              </Text>
              {state === 'failed' && HAS_DETAILS.has(rule) && (
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

function stateOf(passed: boolean | null): keyof typeof icons {
  if (passed === null) {
    return 'open';
  }
  return passed ? 'passed' : 'failed';
}

/** Evaluates the policy for a signing request without signing it. */
function usePolicyEvaluation() {
  return useDirectoryMutation(async (client, request: SigningRequest) => {
    const { data } = await client.post('/certs/', {
      body: { ...request, dry_run: 'true' as const },
    });
    return data.result;
  });
}

/**
 * Requests a certificate, or renews one. The gateway renews only within 5
 * minutes of signing in. When it refuses, a normal request with the same
 * profile and label has the same result. The response is processed even if the
 * user has left the page.
 */
function useSigning(options: {
  draftKey: string;
  generated: GeneratedCsr | undefined;
  renews: bigint | undefined;
}) {
  const { draftKey, generated, renews } = options;
  const keys = useApi(unsavedKeysApiRef);
  return useDirectoryMutation(
    (client, request: SigningRequest) => {
      const send = async () => {
        const header = { 'X-Fields': ALL_FIELDS };
        const renewal =
          renews &&
          (await client
            .post('/certs/{serial_number}/renewal/', {
              params: { path: { serial_number: renews }, header },
              body: { csr: request.csr },
            })
            .catch(error => {
              if (isDirectoryResponseError(error) && error.status === 403) {
                return undefined;
              }
              throw error;
            }));
        const { data } =
          renewal ||
          (await client.post('/certs/', { params: { header }, body: request }));
        draft.remove(draftKey);
        draft.remove(`${draftKey}.label`);
        return data.result as Certificate; // the mask selects all fields
      };
      if (!generated) {
        return send();
      }
      const { id, privateKey } = generated;
      const username = request.user;
      return keys.request({ id, privateKey, username, renews }, send);
    },
    ['my-certificates'],
  );
}
