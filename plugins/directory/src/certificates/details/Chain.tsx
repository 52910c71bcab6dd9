import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { DateTime } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { directoryTranslationRef } from '../../translation';
import styles from './Chain.module.css';
import { Part } from './Part';
import type { ReadCertificate } from './readCertificate';

/** Options of {@link Chain}. */
export interface ChainProps {
  certificate: Certificate;

  /** It and its issuers, leaf first. */
  chain: readonly ReadCertificate[];
}

/** The issuer and those above it, as steps. */
export function Chain({ certificate, chain }: ChainProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  if (!certificate.certificate_chain) {
    return (
      <Part title={t('certificates.details.chain')}>
        <Text as="p" color="secondary">
          {t('certificates.details.noChain', {
            issuer: <DirectoryText value={certificate.issuer} />,
          })}
        </Text>
      </Part>
    );
  }
  return (
    <Part
      title={t('certificates.details.chain')}
      note={t('certificates.details.chainHint')}
    >
      <ol className={styles.chain}>
        {chain.map((step, index) => (
          // The same name may be there twice: an authority's old and new one.
          // eslint-disable-next-line react/no-array-index-key
          <li key={index} className={styles.step}>
            <Text as="p" weight={index === 0 ? 'bold' : 'regular'}>
              <DirectoryText value={step.subject} />
            </Text>
            <Text as="p" variant="body-small" color="secondary">
              {index === 0 && <>{t('certificates.details.this')} · </>}
              {step.isSelfIssued && <>{t('certificates.details.root')} · </>}
              {step.key} · {t('certificates.details.until')}{' '}
              <DateTime value={step.notAfter} />
            </Text>
          </li>
        ))}
      </ol>
    </Part>
  );
}
