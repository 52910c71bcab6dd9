import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, PasswordField } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { type FormEvent, useState } from 'react';
import { useDirectoryMutation } from '../../api/useDirectoryQuery';
import { saveFile } from '../../components/saveFile';
import { Section } from '../../page/DirectoryPage';
import { directoryTranslationRef } from '../../translation';
import { chainText, exportKey, keyFileName } from '../pem';
import styles from './SaveKey.module.css';

/**
 * Minimum length of a passphrase, in ASCII characters. Other characters are not
 * allowed, because programs encode them differently in PKCS#12 files (RFC 7292
 * appendix B.1 requires UTF-16, RFC 8018 UTF-8).
 */
const MIN_PASSPHRASE_LENGTH = 8;

interface SaveKeyProps {
  certificate: Certificate;
  privateKey: CryptoKey;
  username: string;
  onSaved: () => void;
}

/** Downloads of a key generated in the browser. */
export function SaveKey(props: SaveKeyProps) {
  const { certificate, privateKey, username, onSaved } = props;
  const { t } = useTranslationRef(directoryTranslationRef);

  const saving = useDirectoryMutation(async () => {
    saveFile({
      name: `${keyFileName(username, certificate)}.pem`,
      type: 'application/x-pem-file',
      // A server that trusts only the root needs the intermediate, too.
      content: (await exportKey(privateKey)) + chainText(certificate),
    });
    onSaved();
  });

  return (
    <>
      <SavePkcs12 {...props} />
      <Section
        isCard
        title={t('request.done.pem')}
        note={t('request.done.pemHint')}
      >
        <Button variant="secondary" onPress={() => saving.mutate()}>
          {t('request.done.downloadPem')}
        </Button>
        {saving.isError && <SaveFailed />}
      </Section>
    </>
  );
}

function SavePkcs12(props: SaveKeyProps) {
  const { certificate, privateKey, username, onSaved } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [passphrase, setPassphrase] = useState('');
  const saving = useDirectoryMutation(async () => {
    const { createPkcs12 } = await import('../key/createPkcs12');
    const content = await createPkcs12({
      privateKey,
      certificate: certificate.certificate,
      issuers: certificate.certificate_chain?.slice(1) ?? [],
      name: username,
      passphrase,
    });
    saveFile({
      name: `${keyFileName(username, certificate)}.p12`,
      type: 'application/x-pkcs12',
      content,
    });
    onSaved();
  });
  const isAscii = /^[ -~]*$/.test(passphrase);
  const missing = MIN_PASSPHRASE_LENGTH - passphrase.length;
  const isValid = isAscii && missing <= 0;

  function hint() {
    if (!isAscii) {
      return t('request.done.passphraseAscii');
    }
    return passphrase && missing > 0
      ? t('request.done.passphraseShort', { count: missing })
      : t('request.done.passphraseHint', {
          length: String(MIN_PASSPHRASE_LENGTH),
        });
  }

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    if (isValid && !saving.isPending) {
      saving.mutate();
    }
  }

  return (
    <Section
      isCard
      title={t('request.done.p12')}
      note={t('request.done.p12Hint')}
    >
      <form className={styles.form} onSubmit={handleSubmit} noValidate>
        <PasswordField
          label={t('request.done.passphrase')}
          description={hint()}
          value={passphrase}
          onChange={setPassphrase}
          isInvalid={passphrase !== '' && !isValid}
          // Prevents password managers from offering the user's own password.
          autoComplete="new-password"
        />
        <Button
          type="submit"
          isDisabled={!isValid}
          isPending={saving.isPending}
        >
          {t('request.done.downloadP12')}
        </Button>
      </form>
      {saving.isError && <SaveFailed />}
    </Section>
  );
}

function SaveFailed() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Alert
      role="alert"
      status="danger"
      icon
      title={t('request.done.saveFailed')}
    />
  );
}
