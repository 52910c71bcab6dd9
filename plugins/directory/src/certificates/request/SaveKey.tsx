import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, PasswordField } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { type FormEvent, useState } from 'react';
import { saveFile } from '../../components/saveFile';
import { directoryTranslationRef } from '../../translation';
import { Part } from '../Facts';
import { exportKey } from '../pem';
import styles from './SaveKey.module.css';

/** Minimum length of a passphrase, in characters. */
const SHORTEST_PASSPHRASE = 8;

/** Options of {@link SaveKey}. */
interface SaveKeyProps {
  certificate: Certificate;
  privateKey: CryptoKey;
  username: string;

  /** Called when the key has been downloaded. */
  onSaved: () => void;
}

/** Downloads of a key that was generated in the browser. */
export function SaveKey(props: SaveKeyProps) {
  const { certificate, privateKey, username, onSaved } = props;
  const { t } = useTranslationRef(directoryTranslationRef);

  async function savePem() {
    saveFile({
      name: `${username}.pem`,
      type: 'application/x-pem-file',
      content: (await exportKey(privateKey)) + certificate.certificate,
    });
    onSaved();
  }

  return (
    <>
      <SavePkcs12 {...props} />
      <Part
        title={t('certificates.newOne.done.pem')}
        note={t('certificates.newOne.done.pemHint')}
      >
        <Button variant="secondary" onPress={savePem}>
          {t('certificates.newOne.done.downloadPem')}
        </Button>
      </Part>
    </>
  );
}

function SavePkcs12(props: SaveKeyProps) {
  const { certificate, privateKey, username, onSaved } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [passphrase, setPassphrase] = useState('');
  const [isMaking, setMaking] = useState(false);
  const isGood = isPassphrase(passphrase);

  async function handleSubmit(event: FormEvent) {
    event.preventDefault();
    if (!isGood || isMaking) {
      return;
    }
    setMaking(true);
    const { makePkcs12 } = await import('../key/makePkcs12');
    const content = await makePkcs12({
      privateKey,
      certificate: certificate.certificate,
      issuers: certificate.certificate_chain?.slice(1) ?? [],
      name: username,
      passphrase,
    });
    saveFile({
      name: `${username}.p12`,
      type: 'application/x-pkcs12',
      content,
    });
    setMaking(false);
    onSaved();
  }

  return (
    <Part
      title={t('certificates.newOne.done.p12')}
      note={t('certificates.newOne.done.p12Hint')}
    >
      <form className={styles.form} onSubmit={handleSubmit} noValidate>
        <PasswordField
          label={t('certificates.newOne.done.passphrase')}
          description={t('certificates.newOne.done.passphraseHint', {
            length: String(SHORTEST_PASSPHRASE),
          })}
          value={passphrase}
          onChange={setPassphrase}
          isInvalid={passphrase !== '' && !isGood}
          // Prevents password managers from offering the user's own password.
          autoComplete="new-password"
        />
        <Button type="submit" isDisabled={!isGood} isPending={isMaking}>
          {t('certificates.newOne.done.downloadP12')}
        </Button>
      </form>
    </Part>
  );
}

/**
 * Whether a passphrase is long enough and works in all programs: they encode
 * other characters than ASCII differently in a PKCS#12 file (RFC 7292
 * appendix B.1 requires UTF-16, RFC 8018 UTF-8).
 */
function isPassphrase(text: string): boolean {
  return text.length >= SHORTEST_PASSPHRASE && /^[ -~]+$/.test(text);
}
