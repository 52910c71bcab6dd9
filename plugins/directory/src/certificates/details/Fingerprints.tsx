import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { CopyButton } from '../../components/CopyButton';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import styles from './Fingerprints.module.css';
import { Part } from './Part';

/** May break after a colon, and never within an octet. */
function breakable(fingerprint: string): string {
  return fingerprint.replaceAll(':', ':\u200b');
}

/** Hashes of the certificate, to compare with what another tool says. */
export function Fingerprints({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const kinds = [
    ['SHA-256', certificate.sha256_fingerprint],
    ['SHA-1', certificate.sha1_fingerprint],
  ] as const;
  return (
    <Part title={t('certificates.details.fingerprints')}>
      <Facts
        facts={kinds.map(([kind, fingerprint]) => ({
          name: kind,
          value: (
            <span className={styles.fingerprint}>
              <code>{breakable(fingerprint)}</code>
              <CopyButton
                value={fingerprint}
                label={t('certificates.details.copyFingerprint', { kind })}
              />
            </span>
          ),
        }))}
      />
    </Part>
  );
}
