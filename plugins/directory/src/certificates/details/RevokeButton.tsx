import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { RiForbidLine } from '@remixicon/react';
import { useState } from 'react';
import { useMay } from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import {
  type CertificateState,
  certificateState,
} from '../../person/certificates/certificateState';
import { directoryTranslationRef } from '../../translation';
import { RevokeDialog } from './revoke/RevokeDialog';

const REVOCABLE: ReadonlySet<CertificateState> = new Set([
  'valid',
  'expiring',
  'notYet',
]);

/**
 * Opens the dialog that revokes a certificate. Hidden from users who may not
 * revoke, and for certificates that are revoked, expired or not issued here.
 */
export function RevokeButton({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mayRevoke = useMay('directory.certificate.revoke');
  const [isAsking, setAsking] = useState(false);
  const state = certificateState(certificate, useNow());
  if (!mayRevoke || !REVOCABLE.has(state)) {
    return null;
  }
  return (
    <>
      <Button
        variant="secondary"
        iconStart={<RiForbidLine />}
        onPress={() => setAsking(true)}
      >
        {t('certificates.details.revoke.button')}
      </Button>
      {isAsking && (
        <RevokeDialog
          certificate={certificate}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
