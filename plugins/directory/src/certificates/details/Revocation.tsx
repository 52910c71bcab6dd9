import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { useEffect, useRef } from 'react';
import { directoryTranslationRef } from '../../translation';
import styles from './Revocation.module.css';

/** RFC 5280 §5.3.1; 7 is not used. */
const REASONS = [
  'unspecified',
  'keyCompromise',
  'caCompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'certificateHold',
  'unspecified',
  'removeFromCrl',
  'privilegeWithdrawn',
  'aaCompromise',
] as const;

/**
 * Says that a certificate is revoked, and why; nothing when it is not. It takes
 * the focus when that happens on the page: the button that did it is gone then.
 */
export function Revocation({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const place = useRef<HTMLDivElement>(null);
  const { revoked, revocation_reason } = certificate;
  const wasRevoked = useRef(revoked);

  useEffect(() => {
    if (revoked && !wasRevoked.current) {
      place.current?.focus();
    }
    wasRevoked.current = revoked;
  }, [revoked]);

  if (!revoked) {
    return null;
  }
  const reason = REASONS[revocation_reason ?? 0] ?? 'unspecified';
  return (
    <div ref={place} role="status" tabIndex={-1} className={styles.revocation}>
      <Alert
        status="danger"
        icon
        title={t('certificates.details.revoked')}
        description={t('certificates.details.revokedHint', {
          reason: t(`certificates.details.reason.${reason}`),
        })}
      />
    </div>
  );
}
