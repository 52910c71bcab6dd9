import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import type { CertificateProfile } from '@directory-gateway/backstage-plugin-directory-common';
import { directoryTranslationRef } from '../../translation';
import { Choice } from './Choice';
import { StepFrame } from './StepFrame';
import { useProfileWords } from './useProfileWords';

/** Options of {@link ProfileStep}. */
export interface ProfileStepProps {
  profiles: readonly CertificateProfile[];

  /** The name of the chosen one. */
  chosen: string;
  onChoose: (name: string) => void;
  onNext: () => void;
}

/** What is the certificate for, and how long does it hold? */
export function ProfileStep(props: ProfileStepProps) {
  const { profiles, chosen, onChoose, onNext } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const wordsOf = useProfileWords();
  return (
    <StepFrame
      title={t('certificates.newOne.profile.title')}
      actions={
        <Button onPress={onNext}>{t('certificates.newOne.next')}</Button>
      }
    >
      {profiles.map(profile => (
        <Choice
          key={profile.name}
          name="profile"
          {...wordsOf(profile)}
          isChosen={profile.name === chosen}
          onChoose={() => onChoose(profile.name)}
        />
      ))}
    </StepFrame>
  );
}
