import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type {
  Certificate,
  CertificateProfile,
} from '@directory-gateway/backstage-plugin-directory-common';
import { useMemo, useState } from 'react';
import {
  useCurrentUser,
  useDirectoryQuery,
  useOperations,
} from '../../api/useDirectoryQuery';
import { DirectoryPage } from '../../page/DirectoryPage';
import { QueryPanel } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton, NoCertificate, NotMapped } from '../Facts';
import { CheckStep } from './CheckStep';
import { DoneStep } from './DoneStep';
import { csrOf, DEFAULT_KEY_CHOICE, KeyStep } from './KeyStep';
import { LeaveDialog, useLeaveGuard } from './LeaveDialog';
import { ProfileStep } from './ProfileStep';
import { type Step, Stepper } from './Stepper';

/** `/directory/certificates/request`: requests a certificate. */
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
          <RequestSteps username={username} profiles={profiles} />
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

/**
 * The steps of a request. The input and the key are only in the state of this
 * component and are lost when it is unmounted.
 */
function RequestSteps(props: {
  username: string;
  profiles: readonly CertificateProfile[];
}) {
  const { username, profiles } = props;
  const [step, setStep] = useState<Step>('profile');
  const [profile, setProfile] = useState(defaultProfile(profiles));
  const [choice, setChoice] = useState(DEFAULT_KEY_CHOICE);
  const [certificate, setCertificate] = useState<Certificate>();
  const [isSaved, setSaved] = useState(false);

  const privateKey =
    choice.source === 'browser' ? choice.generated?.privateKey : undefined;
  const guard = useLeaveGuard(Boolean(certificate && privateKey && !isSaved));
  const csr = csrOf(choice);
  const request = useMemo(
    () => ({ user: username, csr, profile }),
    [username, csr, profile],
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
          request={request}
          onBack={() => setStep('key')}
          onIssued={issued => {
            setCertificate(issued);
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
function defaultProfile(profiles: readonly CertificateProfile[]): string {
  return (profiles.find(({ is_default }) => is_default) ?? profiles[0]).name;
}

function useProfiles() {
  return useDirectoryQuery({
    key: ['certificate-profiles'],
    load: async (client, signal): Promise<readonly CertificateProfile[]> =>
      (await client.get('/certs/profiles/', { signal })).data.result,
  });
}
