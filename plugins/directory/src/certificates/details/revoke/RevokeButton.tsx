import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { usePermission } from '@backstage/plugin-permission-react';
import { Button } from '@backstage/ui';
import {
  type Certificate,
  directoryCertificateRevokePermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { RiForbidLine } from '@remixicon/react';
import { useState } from 'react';
import { useNow } from '../../../time';
import { directoryTranslationRef } from '../../../translation';
import { RevokeDialog } from './RevokeDialog';

/**
 * The way to revoke a certificate, for those who may, while there is something
 * to take back: not once it is revoked or over.
 */
export function RevokeButton({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { allowed } = usePermission({
    permission: directoryCertificateRevokePermission,
  });
  const [isAsking, setAsking] = useState(false);
  const isOver = new Date(certificate.valid_not_after) < useNow();
  if (!allowed || certificate.revoked || isOver) {
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
