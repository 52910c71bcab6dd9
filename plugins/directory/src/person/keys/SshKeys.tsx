import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { useMemo } from 'react';
import { CopyButton } from '../../components/CopyButton';
import { Rows } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import { readSshKey } from '../readSshKey';
import rows from '../../page/QueryPanel.module.css';
import styles from './Keys.module.css';
import { SshKeyRow } from './SshKeyRow';

/** SSH keys; together they copy as a file authorized_keys. */
export function SshKeys({ texts }: { texts: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const keys = useMemo(
    () => texts.map(text => ({ text, key: readSshKey(text) })),
    [texts],
  );
  const lines = keys.flatMap(({ key }) => (key ? [`${key.line}\n`] : []));

  return (
    <section className={styles.section}>
      <div className={styles.heading}>
        <Text as="h3" variant="body-medium" weight="bold">
          {t('person.keys.ssh')}
        </Text>
        {lines.length > 1 && (
          <CopyButton
            value={lines.join('')}
            label={t('person.keys.copyAll')}
            isLabeled
          />
        )}
      </div>
      <Rows>
        {keys.map(({ text, key }) =>
          key ? (
            <SshKeyRow key={text} sshKey={key} />
          ) : (
            <li key={text} className={rows.row}>
              <Text color="secondary">{t('person.keys.unreadable')}</Text>
            </li>
          ),
        )}
      </Rows>
    </section>
  );
}
