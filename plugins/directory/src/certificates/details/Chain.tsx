import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { useEffect, useRef } from 'react';
import { CopyButton } from '../../components/CopyButton';
import { DateTime, useNow } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { Section } from '../../page/DirectoryPage';
import { directoryTranslationRef } from '../../translation';
import { CertificateHint, Facts } from '../Facts';
import { certificateState } from '../userCertificates';
import styles from './Chain.module.css';
import type { ParsedCertificate } from './parseCertificate';

/** The certificate chain as a list of steps. */
export function Chain(props: {
  certificate: Certificate;

  /** The certificate and its issuers, leaf first. */
  chain: readonly ParsedCertificate[];
}) {
  const { certificate, chain } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  if (!certificate.certificate_chain) {
    return (
      <Section isCard title={t('certificate.chain')}>
        <Text as="p" color="secondary">
          {t('certificate.noChain', {
            issuer: <DirectoryText value={certificate.issuer} />,
          })}
        </Text>
      </Section>
    );
  }
  return (
    <Section
      isCard
      title={t('certificate.chain')}
      note={t('certificate.chainHint')}
    >
      <ol className={styles.chain}>
        {chain.map((step, index) => (
          // A name may occur twice: in the old and the new certificate of a CA.
          // eslint-disable-next-line react/no-array-index-key
          <li key={index} className={styles.step}>
            <Text as="p" weight={index === 0 ? 'bold' : 'regular'}>
              <DirectoryText value={step.subject} />
            </Text>
            <Text as="p" variant="body-small" color="secondary">
              {index === 0 && <>{t('certificate.this')} · </>}
              {step.isSelfIssued && <>{t('certificate.root')} · </>}
              {step.key} · {t('certificate.until')}{' '}
              <DateTime value={step.notAfter} />
            </Text>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Allows line breaks after colons but not within an octet. */
function breakable(fingerprint: string): string {
  return fingerprint.replaceAll(':', ':\u200b');
}

/** Fingerprints of the certificate, for comparison with other tools. */
export function Fingerprints({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const kinds = [
    ['SHA-256', certificate.sha256_fingerprint],
    ['SHA-1', certificate.sha1_fingerprint],
  ] as const;
  return (
    <Section isCard title={t('certificate.fingerprints')}>
      <Facts
        facts={kinds.map(([kind, fingerprint]) => ({
          name: kind,
          value: (
            <span className={styles.fingerprint}>
              <code>{breakable(fingerprint)}</code>
              <CopyButton
                value={fingerprint}
                label={t('certificate.copyFingerprint', { kind })}
              />
            </span>
          ),
        }))}
      />
    </Section>
  );
}

/**
 * Notice that a certificate is revoked or on hold, with the reason; otherwise
 * empty. Receives the focus when the certificate is revoked on this page,
 * because the focused button is removed.
 */
export function Revocation({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const notice = useRef<HTMLDivElement>(null);
  const { revoked } = certificate;
  const state = certificateState(certificate, useNow());
  const wasRevoked = useRef(revoked);

  useEffect(() => {
    if (revoked && !wasRevoked.current) {
      notice.current?.focus();
    }
    wasRevoked.current = revoked;
  }, [revoked]);

  if (!revoked) {
    return null;
  }
  const isOnHold = state === 'hold';
  return (
    <div ref={notice} role="status" tabIndex={-1} className={styles.revocation}>
      <Alert
        status={isOnHold ? 'warning' : 'danger'}
        icon
        title={t(isOnHold ? 'certificate.onHold' : 'certificate.revoked')}
        description={
          <>
            <CertificateHint certificate={certificate} state={state} />{' '}
            {!isOnHold && t('certificate.revokedHint')}
          </>
        }
      />
    </div>
  );
}
