import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  Radio,
  RadioGroup,
  Text,
} from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { RiForbidLine } from '@remixicon/react';
import { useState } from 'react';
import { useDirectoryMutation, useMay } from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { readable } from '../../page/DirectoryPage';
import { FailureAlert } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { type CertificateState, certificateState } from '../userCertificates';
import styles from './RevokeButton.module.css';

/** Reasons to revoke a certificate, the most common first (RFC 5280 §5.3.1). */
const REVOCATION_REASONS = [
  'superseded',
  'cessationOfOperation',
  'keyCompromise',
  'affiliationChanged',
  'privilegeWithdrawn',
  'unspecified',
] as const;

type RevocationReason = (typeof REVOCATION_REASONS)[number];

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
  const [isOpen, setOpen] = useState(false);
  const state = certificateState(certificate, useNow());
  if (!mayRevoke || !REVOCABLE.has(state)) {
    return null;
  }
  return (
    <>
      <Button
        variant="secondary"
        iconStart={<RiForbidLine />}
        onPress={() => setOpen(true)}
      >
        {t('certificate.revoke.button')}
      </Button>
      {isOpen && (
        <RevokeDialog
          certificate={certificate}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** Identifies the certificate, requires a reason and revokes it. */
function RevokeDialog(props: {
  certificate: Certificate;
  onClose: () => void;
}) {
  const { certificate, onClose } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [reason, setReason] = useState<RevocationReason>();
  const { mutate, isPending, error } = useRevocation(certificate.serial_number);

  function handleConfirm() {
    if (reason && !isPending) {
      mutate(reason, { onSuccess: onClose });
    }
  }

  return (
    <Dialog isOpen width={560} onOpenChange={isOpen => !isOpen && onClose()}>
      <DialogHeader>{t('certificate.revoke.title')}</DialogHeader>
      <DialogBody className={`${styles.body} ${readable}`}>
        <CertificateNames certificate={certificate} />
        <Text as="p">{t('certificate.revoke.description')}</Text>
        <RadioGroup
          label={t('certificate.revoke.why')}
          value={reason ?? null}
          onChange={chosen => setReason(chosen as RevocationReason)}
        >
          {REVOCATION_REASONS.map(name => (
            <Radio key={name} value={name}>
              {t(`certificate.revoke.reason.${name}`)}
            </Radio>
          ))}
        </RadioGroup>
        {error && <FailureAlert error={error} />}
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={onClose} isDisabled={isPending}>
          {t('certificate.revoke.cancel')}
        </Button>
        <Button
          destructive
          className={styles.confirm}
          isDisabled={!reason}
          onPress={handleConfirm}
        >
          {t(
            isPending
              ? 'certificate.revoke.working'
              : 'certificate.revoke.confirm',
          )}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

/** Identifies the certificate, so that no other is revoked by mistake. */
function CertificateNames({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { subject, serial_number, owner_user: owners } = certificate;
  return (
    <div className={styles.names}>
      <Facts
        facts={[
          { name: t('certificate.subject'), value: subject },
          {
            name: t('certificate.serial'),
            value: <code>{String(serial_number)}</code>,
          },
          owners?.length
            ? { name: t('certificate.owner'), value: owners.join(', ') }
            : undefined,
        ]}
      />
    </div>
  );
}

/** Revokes a certificate and loads all queries again. */
function useRevocation(serial: bigint) {
  return useDirectoryMutation(
    (client, reason: RevocationReason) =>
      client.post('/certs/{serial_number}/revocation/', {
        params: { path: { serial_number: serial } },
        body: { reason },
      }),
    [],
  );
}
