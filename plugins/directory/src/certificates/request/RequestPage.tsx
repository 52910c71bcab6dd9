import {
  useApi,
  useAppSearchParams,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import type {
  Certificate,
  CertificateProfile,
} from '@directory-gateway/backstage-plugin-directory-common';
import { Text } from '@backstage/ui';
import { useEffect, useMemo, useState } from 'react';
import {
  isNotFound,
  useCurrentUser,
  useDirectoryQuery,
  useOperations,
} from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { DirectoryPage } from '../../page/DirectoryPage';
import { QueryPanel } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import { loadCertificate } from '../details/useCertificate';
import {
  CertificatesSkeleton,
  NoAuthority,
  NoCertificate,
  NotMapped,
  useCertificateName,
} from '../Facts';
import {
  type UnsavedKey,
  unsavedKeysApiRef,
  useUnsavedKeys,
} from '../key/unsavedKeys';
import { parseSerial } from '../Serial';
import { isValid } from '../userCertificates';
import { CheckStep } from './CheckStep';
import { DoneStep } from './DoneStep';
import { csrOf, draft, initialKeyChoice, KeyStep } from './KeyStep';
import { ProfileStep } from './ProfileStep';
import { type Step, Stepper } from './Stepper';

/**
 * `/directory/certificates/request`: requests a certificate, or renews the one
 * with the serial number in the URL parameter `renew`. With the URL parameter
 * `key`, shows the certificate of the unsaved key with this ID instead.
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
          username === null ? (
            <NotMapped />
          ) : (
            <KeyOrRequest key={username} username={username} />
          )
        }
      </QueryPanel>
    </DirectoryPage>
  );
}

/** The certificate of the unsaved key in the URL, or a request. */
function KeyOrRequest({ username }: { username: string }) {
  const keys = useApi(unsavedKeysApiRef);
  const [search] = useAppSearchParams();
  const opened = search.get('key');
  const isOpen = ({ id }: UnsavedKey) => id === opened;
  const unsaved = useUnsavedKeys().find(
    key => isOpen(key) && key.username === username,
  );
  // A saved key can be saved again in another format, until the user leaves.
  const [saved, setSaved] = useState<UnsavedKey>();
  useEffect(() => {
    const forget = () => setSaved(undefined);
    window.addEventListener('pagehide', forget);
    return () => {
      window.removeEventListener('pagehide', forget);
      forget();
    };
  }, [opened]);
  const key = unsaved ?? (saved && isOpen(saved) ? saved : undefined);
  return key?.certificate ? (
    <>
      <Stepper step="done" />
      <DoneStep
        key={key.id}
        certificate={key.certificate}
        generated={{
          privateKey: key.privateKey,
          isSaved: !unsaved,
          onSaved: () => {
            setSaved(key);
            keys.remove(isOpen);
          },
        }}
        username={username}
        renewed={key.renews}
      />
    </>
  ) : (
    <Request username={username} />
  );
}

/**
 * The steps for users who may request certificates, a notice for other users.
 */
function Request({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel
      query={useOperations()}
      skeleton={<CertificatesSkeleton />}
      hidesStaleNotice
    >
      {({ operations, certificate_authority: authority }) => {
        if (operations.includes('directory.certificate.sign')) {
          return <AvailableProfiles username={username} />;
        }
        return authority === null ? (
          <NoAuthority />
        ) : (
          <NoCertificate
            title={t('request.notAllowed.title')}
            description={t('request.notAllowed.description')}
          />
        );
      }}
    </QueryPanel>
  );
}

function AvailableProfiles({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [search] = useAppSearchParams();
  return (
    <QueryPanel
      query={useProfiles(parseSerial(search.get('renew') ?? ''))}
      skeleton={<CertificatesSkeleton />}
      hidesStaleNotice
    >
      {({ profiles, renewed }) =>
        profiles.length > 0 ? (
          <RequestSteps
            username={username}
            profiles={profiles}
            renewed={renewed}
          />
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

interface Issued {
  certificate: Certificate;

  /**
   * Serial number of the old certificate; `undefined` when it was not a
   * renewal.
   */
  renewed: bigint | undefined;
}

/**
 * The steps of a request: the step and the profile are in the URL, the label and
 * a CSR in the session of the tab. A generated key exists only in the state of
 * this component; {@link unsavedKeysApiRef} holds it from the time at which its
 * request is sent.
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
  const [search, setSearch] = useAppSearchParams();
  const profile = initialProfile(
    profiles,
    search.get('profile') ?? renewed?.profile,
  );
  const setProfile = (name: string) =>
    setSearch(
      previous => ({ ...Object.fromEntries(previous), profile: name }),
      { replace: true },
    );
  // With a different profile, it is a request for an additional certificate.
  const renews =
    renewed && isValid(renewed, now) && profile === renewed.profile
      ? renewed.serial_number
      : undefined;
  const draftKey = `directory.csr.${username}.${renewed?.serial_number ?? ''}`;
  const [choice, setChoice] = useState(() => initialKeyChoice(draftKey));
  const [issued, setIssued] = useState<Issued>();

  const generated = choice.source === 'browser' ? choice.generated : undefined;
  const csr = csrOf(choice);
  const [label, setLabel] = useState(
    () => draft.get(`${draftKey}.label`) || (renewed?.label ?? ''),
  );
  const request = useMemo(
    () => ({ user: username, csr, profile }),
    [username, csr, profile],
  );

  const step = issued
    ? 'done'
    : // A renewal keeps the profile.
      (openStep(search.get('step'), csr) ?? (renews ? 'key' : 'profile'));
  const setStep = (next: Step) =>
    setSearch(previous => ({ ...Object.fromEntries(previous), step: next }));

  function handleIssued(certificate: Certificate) {
    if (generated) {
      setSearch({ key: generated.id }, { replace: true });
    } else {
      setIssued({ certificate, renewed: renews });
    }
  }

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
          draftKey={draftKey}
          choice={choice}
          onChange={setChoice}
          onBack={() => setStep('profile')}
          onNext={() => setStep('check')}
        />
      )}
      {step === 'check' && (
        <CheckStep
          request={request}
          draftKey={draftKey}
          generated={generated}
          profile={profiles.find(({ name }) => name === profile)!}
          label={label}
          onLabel={next => {
            setLabel(next);
            draft.set(`${draftKey}.label`, next);
          }}
          renews={renews}
          onBack={() => setStep('key')}
          onIssued={handleIssued}
        />
      )}
      {issued && <DoneStep {...issued} username={username} />}
    </>
  );
}

/** Returns the step in the URL. The generated key of a reloaded page is lost. */
function openStep(name: string | null, csr: string): Step | undefined {
  if (name === 'check') {
    return csr ? name : 'key';
  }
  return name === 'profile' || name === 'key' ? name : undefined;
}

/**
 * Returns the preferred profile if it is available, else the default or the
 * first.
 */
function initialProfile(
  profiles: readonly CertificateProfile[],
  wanted: string | null | undefined,
): string {
  const profile =
    profiles.find(({ name }) => name === wanted) ??
    profiles.find(({ is_default }) => is_default);
  return (profile ?? profiles[0]).name;
}

/**
 * Queries the available profiles, and the certificate to renew if it exists.
 */
function useProfiles(renewed: bigint | undefined) {
  return useDirectoryQuery({
    key: ['certificate-profiles', String(renewed)],
    load: async (client, signal) => {
      const [profiles, certificate] = await Promise.all([
        client.get('/certs/profiles/', { signal }),
        renewed &&
          loadCertificate(renewed, client, signal).catch(error => {
            if (!isNotFound(error)) {
              throw error;
            }
            return undefined;
          }),
      ]);
      return {
        profiles: profiles.data.result as readonly CertificateProfile[],
        renewed: certificate || undefined,
      };
    },
  });
}
