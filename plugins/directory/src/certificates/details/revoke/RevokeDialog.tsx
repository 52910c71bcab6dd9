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
import { useState } from 'react';
import { readable } from '../../../page/DirectoryPage';
import { FailureAlert } from '../../../page/states';
import { directoryTranslationRef } from '../../../translation';
import { Facts } from '../../Facts';
import styles from './RevokeDialog.module.css';
import {
  type RevocationReason,
  revocationReasons,
  useRevocation,
} from './useRevocation';

/** Options of {@link RevokeDialog}. */
export interface RevokeDialogProps {
  certificate: Certificate;
  onClose: () => void;
}

/** Asks why, names what is taken back, and does it after that only. */
export function RevokeDialog({ certificate, onClose }: RevokeDialogProps) {
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

/** Whose certificate it is, so that nobody takes back another. */
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
