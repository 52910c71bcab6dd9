import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { Part } from './Part';
import type { ReadCertificate } from './readCertificate';

/** What it may be used for. */
export function Usages({ leaf }: { leaf: ReadCertificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const words = (usages: readonly string[]) =>
    usages.join(', ') || t('certificates.details.anyUsage');
  return (
    <Part title={t('certificates.details.usages')}>
      <Facts
        facts={[
          {
            name: t('certificates.details.keyUsage'),
            value: words(leaf.keyUsage),
          },
          {
            name: t('certificates.details.extendedKeyUsage'),
            value: words(leaf.extendedKeyUsage),
          },
        ]}
      />
    </Part>
  );
}
