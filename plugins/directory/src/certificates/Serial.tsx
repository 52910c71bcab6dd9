import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { CopyButton } from '../components/CopyButton';
import { directoryTranslationRef } from '../translation';
import styles from './Serial.module.css';
import { shortenSerial } from './shortenSerial';

/** Options of {@link Serial}. */
export interface SerialProps {
  serial: bigint;

  /** The same number as `0x…`. */
  hex: string;

  /** Whether to show all of it. Defaults to false. */
  isWhole?: boolean;
}

/** A serial number: short to look at, whole on hover and on the clipboard. */
export function Serial({ serial, hex, isWhole = false }: SerialProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const decimal = String(serial);
  return (
    <span className={styles.serial}>
      <code title={hex}>{isWhole ? decimal : shortenSerial(decimal)}</code>
      <CopyButton
        value={decimal}
        label={t('certificates.copySerial', { serial: decimal })}
      />
    </span>
  );
}
