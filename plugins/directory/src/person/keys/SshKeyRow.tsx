import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Skeleton, Text } from '@backstage/ui';
import { CopyButton } from '../../components/CopyButton';
import { DirectoryText, visibleText } from '../../components/DirectoryText';
import { directoryTranslationRef } from '../../translation';
import type { SshKey } from '../readSshKey';
import rows from '../../page/QueryPanel.module.css';
import styles from './Keys.module.css';
import { useFingerprint } from './useFingerprint';

/** An SSH key: its comment, type and size, and its fingerprint. */
export function SshKeyRow({ sshKey }: { sshKey: SshKey }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { type, bits, comment, blob, line } = sshKey;
  const fingerprint = useFingerprint(blob);
  const name = comment || t('person.keys.noComment');

  return (
    <li className={rows.row}>
      <div className={rows.words}>
        <Text as="p" weight="bold">
          <DirectoryText value={name} />
        </Text>
        <span className={styles.fingerprint}>
          {fingerprint === undefined && <Skeleton width="28ch" height={16} />}
          {fingerprint === null && t('person.keys.noFingerprint')}
          {fingerprint && <code>{fingerprint}</code>}
        </span>
      </div>
      <div className={rows.marks}>
        <Badge>
          <DirectoryText value={type.replace(/^ssh-|@openssh\.com$/g, '')} />
        </Badge>
        {bits && (
          <Text variant="body-small" color="secondary">
            {t('person.keys.bits', { bits: bits.toLocaleString() })}
          </Text>
        )}
        <CopyButton
          value={line}
          label={t('person.keys.copyKey', {
            comment: visibleText(name),
          })}
        />
      </div>
    </li>
  );
}
