import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import type { CertificateProfile } from '@directory-gateway/backstage-plugin-directory-common';
import { parseDuration } from '@internationalized/date';
import { directoryTranslationRef } from '../../translation';
import { useUsageText } from '../Facts';
import { Choices, StepFrame } from './Stepper';
import { locale } from '../../language';

/**
 * Step that selects the profile, which sets purpose and lifetime of the
 * certificate.
 */
export function ProfileStep(props: {
  profiles: readonly CertificateProfile[];
  chosen: string;
  onChoose: (name: string) => void;
  onNext: () => void;
}) {
  const { profiles, chosen, onChoose, onNext } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const textOf = useProfileText();
  return (
    <StepFrame
      title={t('request.profile.title')}
      actions={<Button onPress={onNext}>{t('request.next')}</Button>}
    >
      <Choices
        label={t('request.profile.title')}
        choices={profiles.map(profile => ({
          name: profile.name,
          ...textOf(profile),
        }))}
        chosen={chosen}
        onChoose={onChoose}
      />
    </StepFrame>
  );
}

/**
 * Returns a function that describes a profile: its configured purpose or its
 * extended key usages, and the lifetime of its certificates.
 */
export function useProfileText() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const textOf = useUsageText();

  return (profile: CertificateProfile) => {
    const { name, purpose, lifetime, extended_key_usage: usages } = profile;
    const uses = usages?.map(textOf).join(', ');
    const validity =
      lifetime &&
      t('request.profile.lifetime', {
        lifetime: formatLifetime(lifetime),
      });
    return {
      title: purpose ?? uses ?? name,
      description: [
        validity,
        purpose && uses,
        t('request.profile.name', { name }),
      ]
        .filter(Boolean)
        .join(' · '),
    };
  };
}

/**
 * Formats an ISO 8601 duration of days, hours, minutes and seconds in its
 * largest unit and the user's language: "30 days", "12 hours", "1 year".
 */
export function formatLifetime(duration: string): string {
  const {
    days = 0,
    hours = 0,
    minutes = 0,
    seconds = 0,
  } = parseDuration(duration);
  const units = [
    ['year', days % 365 === 0 ? days / 365 : 0],
    ['day', days],
    ['hour', hours],
    ['minute', minutes],
    ['second', seconds],
  ] as const;
  const [unit, value] = units.find(([, count]) => count > 0) ?? ['second', 0];
  return value.toLocaleString(locale(), {
    style: 'unit',
    unit,
    unitDisplay: 'long',
  });
}
