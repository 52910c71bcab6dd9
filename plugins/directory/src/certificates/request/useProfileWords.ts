import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type { CertificateProfile } from '@directory-gateway/backstage-plugin-directory-common';
import { directoryTranslationRef } from '../../translation';
import { formatLifetime } from './formatLifetime';

/** Purposes of keys that have plain words. */
const KNOWN = [
  'clientAuth',
  'emailProtection',
  'codeSigning',
  'serverAuth',
  'smartcardLogon',
  'pkinitClientAuth',
] as const;

/**
 * What a profile is for, as the site says it or as its key purposes do, and
 * how long its certificates last.
 */
export function useProfileWords() {
  const { t } = useTranslationRef(directoryTranslationRef);

  const wordsOf = (purpose: string) => {
    const known = KNOWN.find(name => name === purpose);
    return known ? t(`certificates.newOne.profile.use.${known}`) : purpose;
  };

  return (profile: CertificateProfile) => {
    const { name, purpose, lifetime, extended_key_usage: usages } = profile;
    const uses = usages?.map(wordsOf).join(', ');
    const lasts =
      lifetime &&
      t('certificates.newOne.profile.lasts', {
        lifetime: formatLifetime(lifetime),
      });
    return {
      title: purpose ?? uses ?? name,
      description: [
        lasts,
        purpose && uses,
        t('certificates.newOne.profile.name', { name }),
      ]
        .filter(Boolean)
        .join(' · '),
    };
  };
}
