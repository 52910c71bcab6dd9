import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, TextField } from '@backstage/ui';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { certificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './OpenBySerial.module.css';
import { readSerial } from './readSerial';

/** Opens a certificate by its serial number, decimal or hexadecimal. */
export function OpenBySerial() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [isRefused, setRefused] = useState(false);

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    const serial = readSerial(text);
    setRefused(serial === undefined);
    if (serial !== undefined && href) {
      navigate(href({ serial: String(serial) }));
    }
  }

  return (
    <form className={styles.form} onSubmit={handleSubmit} noValidate>
      <TextField
        className={styles.field}
        label={t('certificates.open.label')}
        description={
          isRefused
            ? t('certificates.open.refused')
            : t('certificates.open.hint')
        }
        placeholder="0x1A2B…"
        value={text}
        onChange={next => {
          setText(next);
          setRefused(false);
        }}
        isInvalid={isRefused}
        autoComplete="off"
        spellCheck="false"
      />
      <Button type="submit" variant="secondary">
        {t('certificates.open.button')}
      </Button>
    </form>
  );
}
