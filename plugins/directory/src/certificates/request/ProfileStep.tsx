import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import { directoryTranslationRef } from '../../translation';
import { Choice } from './Choice';
import { StepFrame } from './StepFrame';
import type { OfferedProfile } from './useProfiles';

/** Options of {@link ProfileStep}. */
export interface ProfileStepProps {
  profiles: readonly OfferedProfile[];

  /** The name of the chosen one. */
  chosen: string | undefined;
  onChoose: (name: string | undefined) => void;
  onNext: () => void;
}

/** What is the certificate for, and how long does it hold? */
export function ProfileStep(props: ProfileStepProps) {
  const { profiles, chosen, onChoose, onNext } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <StepFrame
      title={t('certificates.newOne.profile.title')}
      actions={
        <Button onPress={onNext}>{t('certificates.newOne.next')}</Button>
      }
    >
      {profiles.map(({ name, title, description }) => (
        <Choice
          key={title}
          name="profile"
          title={title}
          description={description}
          isChosen={name === chosen}
          onChoose={() => onChoose(name)}
        />
      ))}
    </StepFrame>
  );
}
