import type {
  Certificate,
  CertificateProfile,
} from '@directory-gateway/backstage-plugin-directory-common';
import { useMemo, useState } from 'react';
import { CheckStep } from './CheckStep';
import { DoneStep } from './DoneStep';
import { firstChoice, requestOf } from './KeyChoice';
import { KeyStep } from './KeyStep';
import { LeaveDialog } from './LeaveDialog';
import { ProfileStep } from './ProfileStep';
import { type Step, Stepper } from './Stepper';
import { useLeaveGuard } from './useLeaveGuard';

/** Options of {@link RequestSteps}. */
export interface RequestStepsProps {
  username: string;

  /** What there is to choose from: one at least. */
  profiles: readonly CertificateProfile[];
}

/**
 * The way to a certificate, step by step. All that is entered, and the key,
 * is in the state of this component and nowhere else: gone when it goes.
 */
export function RequestSteps(props: RequestStepsProps) {
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

/** The profile to begin with: the portal's default, where it is offered. */
function firstOf(profiles: readonly CertificateProfile[]): string {
  return (profiles.find(({ is_default }) => is_default) ?? profiles[0]).name;
}
