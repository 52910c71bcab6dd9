import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { directoryTranslationRef } from '../../translation';

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

/** Says that a certificate is revoked, and why; nothing when it is not. */
export function Revocation({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  if (!certificate.revoked) {
    return null;
  }
  const reason = REASONS[certificate.revocation_reason ?? 0] ?? 'unspecified';
  return (
    <Alert
      status="danger"
      icon
      mb="4"
      title={t('certificates.details.revoked')}
      description={t('certificates.details.revokedHint', {
        reason: t(`certificates.details.reason.${reason}`),
      })}
    />
  );
}
