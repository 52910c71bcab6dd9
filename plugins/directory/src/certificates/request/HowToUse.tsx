import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { CopyButton } from '../../copy';
import { directoryTranslationRef } from '../../translation';
import { Part } from '../details/Part';
import styles from './HowToUse.module.css';

/** How the programs that people use take a certificate. */
export function HowToUse({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const file = `${username}.pem`;
  const commands = [
    ['curl', `curl --cert ${file} https://…`],
    ['git', `git config http.sslCert "$PWD/${file}"`],
  ] as const;
  return (
    <Part title={t('certificates.newOne.done.how')}>
      <dl className={styles.ways}>
        {(['firefox', 'chrome'] as const).map(browser => (
          <div key={browser}>
            <dt>
              <Text weight="bold">
                {t(`certificates.newOne.done.${browser}`)}
              </Text>
            </dt>
            <dd>
              <Text color="secondary">
                {t(`certificates.newOne.done.${browser}How`)}
              </Text>
            </dd>
          </div>
        ))}
        {commands.map(([program, command]) => (
          <div key={program}>
            <dt>
              <Text weight="bold">
                {t(`certificates.newOne.done.${program}`)}
              </Text>
            </dt>
            <dd className={styles.command}>
              <code>{command}</code>
              <CopyButton
                value={command}
                label={t('person.copyValue', { value: command })}
              />
            </dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}
