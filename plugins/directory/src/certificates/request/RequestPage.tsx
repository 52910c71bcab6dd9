import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import type {
  Certificate,
  CertificateProfile,
} from '@directory-gateway/backstage-plugin-directory-common';
import { RiShieldKeyholeLine, RiUserLine } from '@remixicon/react';
import { useMemo, useState } from 'react';
import {
  useDirectoryQuery,
  useOperations,
  useReaderQuery,
} from '../../api/useDirectoryQuery';
import { DirectoryPage } from '../../page/DirectoryPage';
import { EmptyState, ErrorState } from '../../page/states';
import { certificatesRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton } from '../Facts';
import { CheckStep } from './CheckStep';
import { DoneStep } from './DoneStep';
import { firstChoice, KeyStep, requestOf } from './KeyStep';
import { LeaveDialog, useLeaveGuard } from './LeaveDialog';
import { ProfileStep } from './ProfileStep';
import { type Step, Stepper } from './Stepper';

/** `/directory/certificates/request`: requests a certificate. */
export function RequestPage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data: reader, error, refetch } = useReaderQuery();
  return (
    <DirectoryPage room="certificates" subject={t('certificates.newOne.title')}>
      {reader === undefined &&
        (error ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : (
          <CertificatesSkeleton />
        ))}
      {reader === null && (
        <EmptyState
          icon={<RiUserLine />}
          title={t('certificates.stranger.title')}
          description={t('certificates.stranger.description')}
        />
      )}
      {reader && <Allowed username={reader} />}
    </DirectoryPage>
  );
}

/** The steps for users who may request certificates; a notice for others. */
function Allowed({ username }: { username: string }) {
  const { data: operations, error, refetch } = useOperations();
  if (!operations) {
    return error ? (
      <ErrorState error={error} onRetry={refetch} />
    ) : (
      <CertificatesSkeleton />
    );
  }
  return operations.has('directory.certificate.sign') ? (
    <Request username={username} />
  ) : (
    <NotAllowed />
  );
}

function NotAllowed() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mine = useRouteRef(certificatesRouteRef)?.() ?? '/';
  return (
    <EmptyState
      icon={<RiShieldKeyholeLine />}
      title={t('certificates.notAllowed.title')}
      description={t('certificates.notAllowed.description')}
      actions={
        <ButtonLink variant="primary" href={mine}>
          {t('certificates.details.mine')}
        </ButtonLink>
      }
    />
  );
}

/** Loads the profiles, then shows the steps. */
function Request({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mine = useRouteRef(certificatesRouteRef)?.() ?? '/';
  const { data: profiles, error, refetch } = useProfiles();
  if (!profiles) {
    return error ? (
      <ErrorState error={error} onRetry={refetch} />
    ) : (
      <CertificatesSkeleton />
    );
  }
  return profiles.length > 0 ? (
    <RequestSteps username={username} profiles={profiles} />
  ) : (
    <EmptyState
      icon={<RiShieldKeyholeLine />}
      title={t('certificates.newOne.profile.none.title')}
      description={t('certificates.newOne.profile.none.description')}
      actions={
        <ButtonLink variant="primary" href={mine}>
          {t('certificates.details.mine')}
        </ButtonLink>
      }
    />
  );
}

/**
 * The steps of a request. The input and the key are only in the state of this
 * component and are lost when it is unmounted.
 */
function RequestSteps(props: {
  username: string;

  /** Profiles that the user may use: at least one. */
  profiles: readonly CertificateProfile[];
}) {
  const { username, profiles } = props;
  const [step, setStep] = useState<Step>('profile');
  const [profile, setProfile] = useState(firstOf(profiles));
  const [choice, setChoice] = useState(firstChoice);
  const [certificate, setCertificate] = useState<Certificate>();
  const [isSaved, setSaved] = useState(false);

  const privateKey =
    choice.way === 'make' ? choice.made?.privateKey : undefined;
  const guard = useLeaveGuard(Boolean(certificate && privateKey && !isSaved));
  const csr = requestOf(choice) ?? '';
  const order = useMemo(
    () => ({ username, profile, csr }),
    [username, profile, csr],
  );

  return (
    <>
      <Stepper step={step} />
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
          order={order}
          onBack={() => setStep('key')}
          onSigned={signed => {
            setCertificate(signed);
            setStep('done');
          }}
        />
      )}
      {step === 'done' && certificate && (
        <DoneStep
          certificate={certificate}
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

/** Returns the default profile, or the first one. */
function firstOf(profiles: readonly CertificateProfile[]): string {
  return (profiles.find(({ is_default }) => is_default) ?? profiles[0]).name;
}

function useProfiles() {
  return useDirectoryQuery({
    key: ['certificate-profiles'],
    load: async (client, signal): Promise<readonly CertificateProfile[]> =>
      (await client.get('/certs/profiles/', { signal })).data.result,
  });
}
