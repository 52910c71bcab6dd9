import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  TextField,
} from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { type FormEvent, useId, useState } from 'react';
import { useDirectoryMutation } from '../api/useDirectoryQuery';
import { readable } from '../page/DirectoryPage';
import { FailureAlert } from '../page/states';
import { directoryTranslationRef } from '../translation';

/** Maximum length of a label, in characters. */
export const MAX_LABEL_LENGTH = 64;

/** Sets, changes or removes the label of one of the user's certificates. */
export function LabelDialog(props: {
  certificate: Pick<Certificate, 'serial_number' | 'label'>;
  onClose: () => void;
}) {
  const { certificate, onClose } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [label, setLabel] = useState(certificate.label ?? '');
  const { mutate, isPending, error } = useDirectoryMutation(
    (client, text: string) =>
      client.put('/certs/{serial_number}/label/', {
        params: { path: { serial_number: certificate.serial_number } },
        body: { label: text },
      }),
    [],
  );
  const form = useId();

  function save() {
    if (!isPending) {
      mutate(label, { onSuccess: onClose });
    }
  }

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    save();
  }

  return (
    <Dialog isOpen width={480} onOpenChange={isOpen => !isOpen && onClose()}>
      <DialogHeader>{t('certificate.label.title')}</DialogHeader>
      <DialogBody className={readable}>
        <form id={form} onSubmit={handleSubmit} noValidate>
          <TextField
            label={t('certificate.label.name')}
            description={t('certificate.label.hint', {
              length: String(MAX_LABEL_LENGTH),
            })}
            value={label}
            onChange={setLabel}
            maxLength={MAX_LABEL_LENGTH}
            autoComplete="off"
            // eslint-disable-next-line jsx-a11y/no-autofocus -- the only field of a dialog
            autoFocus
          />
        </form>
        {error && <FailureAlert error={error} onRetry={save} />}
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={onClose} isDisabled={isPending}>
          {t('certificate.label.cancel')}
        </Button>
        <Button type="submit" form={form} isPending={isPending}>
          {t('certificate.label.save')}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
