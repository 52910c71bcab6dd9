import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type {
  Certificate,
  CertificateProfile,
} from '@directory-gateway/backstage-plugin-directory-common';
import { Text } from '@backstage/ui';
import { type ReactNode, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import {
  useCurrentUser,
  useDirectoryQuery,
  useOperations,
} from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { DirectoryPage } from '../../page/DirectoryPage';
import { QueryPanel } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import { useCertificate } from '../details/useCertificate';
import {
  CertificatesSkeleton,
  NoCertificate,
  NotMapped,
  useCertificateName,
} from '../Facts';
import { parseSerial } from '../Serial';
import { isValid } from '../userCertificates';
import { CheckStep } from './CheckStep';
import { DoneStep } from './DoneStep';
import { csrOf, DEFAULT_KEY_CHOICE, KeyStep } from './KeyStep';
import { LeaveDialog, useLeaveGuard } from './LeaveDialog';
import { ProfileStep } from './ProfileStep';
import { type Step, Stepper } from './Stepper';

/**
 * `/directory/certificates/request`: requests a certificate, or renews the one
 * whose serial number is in the parameter `renew`.
 */
export function RequestPage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <DirectoryPage area="certificates" subject={t('request.title')}>
      <QueryPanel
        query={useCurrentUser()}
        skeleton={<CertificatesSkeleton />}
        hidesStaleNotice
      >
        {username =>
          username === null ? <NotMapped /> : <Request username={username} />
        }
      </QueryPanel>
    </DirectoryPage>
  );
}

/** The steps for users who may request certificates; a notice for others. */
function Request({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel
      query={useOperations()}
      skeleton={<CertificatesSkeleton />}
      hidesStaleNotice
    >
      {operations =>
        operations.has('directory.certificate.sign') ? (
          <AvailableProfiles username={username} />
        ) : (
          <NoCertificate
            title={t('request.notAllowed.title')}
            description={t('request.notAllowed.description')}
          />
        )
      }
    </QueryPanel>
  );
}

function AvailableProfiles({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel
      query={useProfiles()}
      skeleton={<CertificatesSkeleton />}
      hidesStaleNotice
    >
      {profiles =>
        profiles.length > 0 ? (
          <RenewedCertificate>
            {renewed => (
              <RequestSteps
                username={username}
                profiles={profiles}
                renewed={renewed}
              />
            )}
          </RenewedCertificate>
        ) : (
          <NoCertificate
            title={t('request.profile.none.title')}
            description={t('request.profile.none.description')}
          />
        )
      }
    </QueryPanel>
  );
}

/** Loads the certificate to renew; `undefined` for a request without one. */
function RenewedCertificate(props: {
  children: (certificate: Certificate | undefined) => ReactNode;
}) {
  const [search] = useSearchParams();
  const serial = parseSerial(search.get('renew') ?? '');
  const query = useCertificate(serial);
  return serial === undefined ? (
    <>{props.children(undefined)}</>
  ) : (
    <QueryPanel
      query={query}
      skeleton={<CertificatesSkeleton />}
      hidesStaleNotice
    >
      {({ certificate }) => props.children(certificate)}
    </QueryPanel>
  );
}

interface Issued {
  certificate: Certificate;

  /** Serial number of the certificate that it renews. */
  renewed: bigint | undefined;
}

/**
 * The steps of a request. The input and the key are only in the state of this
 * component and are lost when it is unmounted.
 */
function RequestSteps(props: {
  username: string;
  profiles: readonly CertificateProfile[];
  renewed: Certificate | undefined;
}) {
  const { username, profiles, renewed } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const nameOf = useCertificateName();
  const now = useNow();
  const [step, setStep] = useState<Step>('profile');
  const [profile, setProfile] = useState(
    initialProfile(profiles, renewed?.profile),
  );
  const [choice, setChoice] = useState(DEFAULT_KEY_CHOICE);
  const [issued, setIssued] = useState<Issued>();
  const [isSaved, setSaved] = useState(false);

  const privateKey =
    choice.source === 'browser' ? choice.generated?.privateKey : undefined;
  const guard = useLeaveGuard(Boolean(issued && privateKey && !isSaved));
  const csr = csrOf(choice);
  const request = useMemo(
    () => ({
      user: username,
      csr,
      profile,
      label: renewed?.label ?? undefined,
    }),
    [username, csr, profile, renewed?.label],
  );
  // With another profile it is a request for a further certificate.
  const renews =
    renewed && isValid(renewed, now) && profile === renewed.profile
      ? renewed.serial_number
      : undefined;

  return (
    <>
      <Stepper step={step} />
      {renews !== undefined && step !== 'done' && (
        <Text as="p" color="secondary">
          {t('request.renewing', { name: nameOf(renewed!) })}
        </Text>
      )}
      {step === 'profile' && (
        <ProfileStep
          profiles={profiles}
          chosen={profile}
          onChoose={setProfile}
          onNext={() => setStep('key')}
        />
      )}
      {step === 'key' && (
        <KeyStep
          username={username}
          choice={choice}
          onChange={setChoice}
          onBack={() => setStep('profile')}
          onNext={() => setStep('check')}
        />
      )}
      {step === 'check' && (
        <CheckStep
          request={request}
          renews={renews}
          onBack={() => setStep('key')}
          onIssued={certificate => {
            setIssued({ certificate, renewed: renews });
            setStep('done');
          }}
        />
      )}
      {step === 'done' && issued && (
        <DoneStep
          {...issued}
          privateKey={privateKey}
          username={username}
          isSaved={isSaved}
          onSaved={() => setSaved(true)}
        />
      )}
      <LeaveDialog guard={guard} />
    </>
  );
}

/** Returns the wanted profile if it is available, or the default, or the first. */
function initialProfile(
  profiles: readonly CertificateProfile[],
  wanted: string | null | undefined,
): string {
  const profile =
    profiles.find(({ name }) => name === wanted) ??
    profiles.find(({ is_default }) => is_default);
  return (profile ?? profiles[0]).name;
}

function useProfiles() {
  return useDirectoryQuery({
    key: ['certificate-profiles'],
    load: async (client, signal): Promise<readonly CertificateProfile[]> =>
      (await client.get('/certs/profiles/', { signal })).data.result,
  });
}
