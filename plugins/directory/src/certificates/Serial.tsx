import {
  useAppNavigate,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { Button, TextField } from '@backstage/ui';
import { type FormEvent, useState } from 'react';
import { CopyButton } from '../components/CopyButton';
import { certificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './Serial.module.css';

/** A serial number with a copy button. */
export function Serial(props: {
  serial: bigint;

  /** The same number as `0x…`. */
  hex: string;

  /**
   * Whether to show all digits. Defaults to false: a long number is shortened.
   */
  isWhole?: boolean;
}) {
  const { serial, hex, isWhole = false } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const decimal = String(serial);
  return (
    <span className={styles.serial}>
      <code title={hex}>{isWhole ? decimal : shortenSerial(decimal)}</code>
      <CopyButton
        value={decimal}
        label={t('certificate.copySerial', { serial: decimal })}
      />
    </span>
  );
}

/** Shortens a long serial number to its first and last digits. */
export function shortenSerial(serial: string): string {
  return serial.length > 16
    ? `${serial.slice(0, 8)}…${serial.slice(-6)}`
    : serial;
}

/** Largest serial number: 20 octets (RFC 5280 §4.1.2.2). */
const MAX_SERIAL = 2n ** 160n - 1n;

/**
 * Parses a serial number: decimal, or hexadecimal when it starts with `0x`, has
 * colons between octets (as printed by OpenSSL) or contains a letter. Returns
 * `undefined` for other text.
 */
export function parseSerial(text: string): bigint | undefined {
  const compact = text.trim().replace(/^serial\s*[=:]\s*/i, '');
  const hex = /^0x[0-9a-f]+$/i.test(compact)
    ? compact.slice(2)
    : parseHex(compact);
  if (!hex && !/^\d+$/.test(compact)) {
    return undefined;
  }
  const serial = BigInt(hex ? `0x${hex}` : compact);
  return serial <= MAX_SERIAL ? serial : undefined;
}

function parseHex(text: string): string | undefined {
  if (/^[0-9a-f]{1,2}(:[0-9a-f]{2})+$/i.test(text)) {
    return text.replaceAll(':', '');
  }
  return /^[0-9a-f]*[a-f][0-9a-f]*$/i.test(text) ? text : undefined;
}

/** Opens a certificate by its decimal or hexadecimal serial number. */
export function OpenBySerial() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const navigate = useAppNavigate();
  const [text, setText] = useState('');
  const [isInvalid, setInvalid] = useState(false);

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    const serial = parseSerial(text);
    setInvalid(serial === undefined);
    if (serial !== undefined && href) {
      navigate(href({ serial: String(serial) }));
    }
  }

  return (
    <form className={styles.form} onSubmit={handleSubmit} noValidate>
      <TextField
        className={styles.field}
        label={t('certificates.open.label')}
        description={t(
          isInvalid ? 'certificates.open.invalid' : 'certificates.open.hint',
        )}
        placeholder="0x1A2B…"
        value={text}
        onChange={next => {
          setText(next);
          setInvalid(false);
        }}
        isInvalid={isInvalid}
        autoComplete="off"
        spellCheck="false"
      />
      <Button type="submit" variant="secondary">
        {t('certificates.open.button')}
      </Button>
    </form>
  );
}
