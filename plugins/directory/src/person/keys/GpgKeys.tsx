import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Text } from '@backstage/ui';
import { CopyButton } from '../../components/CopyButton';
import { DirectoryText, visibleText } from '../../components/DirectoryText';
import { Rows } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import rows from '../../page/QueryPanel.module.css';
import styles from './Keys.module.css';

/** Length of a fingerprint of OpenPGP version 4, in hexadecimal digits. */
const FINGERPRINT = 40;

/** OpenPGP keys, which the directory knows by ID or by fingerprint only. */
export function GpgKeys({ ids }: { ids: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <section className={styles.section}>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('person.keys.gpg')}
      </Text>
      <Rows>
        {ids.map(id => (
          <li key={id} className={rows.row}>
            <span className={`${rows.words} ${styles.id}`}>
              <code>
                <DirectoryText value={inFours(id)} />
              </code>
            </span>
            <div className={rows.marks}>
              <Badge>
                {t(
                  id.length >= FINGERPRINT
                    ? 'person.keys.fingerprint'
                    : 'person.keys.keyId',
                )}
              </Badge>
              <CopyButton
                value={id}
                label={t('person.keys.copyFingerprint', {
                  fingerprint: visibleText(id),
                })}
              />
            </div>
          </li>
        ))}
      </Rows>
    </section>
  );
}

/** As people compare it: in groups of four. */
function inFours(id: string): string {
  return id.replace(/(.{4})(?=.)/g, '$1 ');
}
