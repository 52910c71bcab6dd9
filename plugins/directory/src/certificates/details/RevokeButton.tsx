import { useApi, useTranslationRef } from '@backstage/frontend-plugin-api';
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
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { directoryApiRef } from '../../api/directoryApi';
import { useMay } from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { readable } from '../../page/DirectoryPage';
import { FailureAlert } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { type CertificateState, certificateState } from '../userCertificates';
import styles from './RevokeButton.module.css';

/** Reasons to revoke a certificate, the most common first (RFC 5280 §5.3.1). */
const revocationReasons = [
  'superseded',
  'cessationOfOperation',
  'keyCompromise',
  'affiliationChanged',
  'privilegeWithdrawn',
  'unspecified',
] as const;

/** A reason to revoke a certificate. */
type RevocationReason = (typeof revocationReasons)[number];

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

/** Names the certificate, asks for the reason and revokes it. */
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
      <DialogHeader>{t('certificates.details.revoke.title')}</DialogHeader>
      <DialogBody className={`${styles.body} ${readable}`}>
        <Named certificate={certificate} />
        <Text as="p">{t('certificates.details.revoke.description')}</Text>
        <RadioGroup
          label={t('certificates.details.revoke.why')}
          value={reason ?? null}
          onChange={chosen => setReason(chosen as RevocationReason)}
        >
          {revocationReasons.map(name => (
            <Radio key={name} value={name}>
              {t(`certificates.details.revoke.reason.${name}`)}
            </Radio>
          ))}
        </RadioGroup>
        {error && <FailureAlert error={error} />}
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={onClose} isDisabled={isPending}>
          {t('certificates.details.revoke.cancel')}
        </Button>
        <Button
          destructive
          className={styles.confirm}
          isDisabled={!reason}
          onPress={handleConfirm}
        >
          {isPending
            ? t('certificates.details.revoke.working')
            : t('certificates.details.revoke.confirm')}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

/** Identifies the certificate, so that no other is revoked by mistake. */
function Named({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { subject, serial_number, owner_user: owners } = certificate;
  return (
    <div className={styles.named}>
      <Facts
        facts={[
          { name: t('certificates.details.subject'), value: subject },
          {
            name: t('certificates.details.serial'),
            value: <code>{String(serial_number)}</code>,
          },
          ...(owners?.length
            ? [
                {
                  name: t('certificates.details.owner'),
                  value: owners.join(', '),
                },
              ]
            : []),
        ]}
      />
    </div>
  );
}

/** Revokes a certificate and invalidates all queries. */
function useRevocation(serial: bigint) {
  const { client, queries } = useApi(directoryApiRef);
  return useMutation(
    {
      mutationFn: (reason: RevocationReason) =>
        client.post('/certs/{serial_number}/revocation/', {
          params: { path: { serial_number: serial } },
          body: { reason },
        }),
      onSuccess: () => queries.invalidateQueries({ queryKey: ['directory'] }),
      networkMode: 'always',
      gcTime: 0,
    },
    queries,
  );
}
