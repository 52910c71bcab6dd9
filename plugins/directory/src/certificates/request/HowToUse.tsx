import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import { CopyButton } from '../../components/CopyButton';
import { directoryTranslationRef } from '../../translation';
import { Part } from '../details/Part';
import { commandsFor, type Holding, pkcs12Command } from './commandsFor';
import styles from './HowToUse.module.css';

/** How the programs that people use take a certificate, with the key at hand. */
export function HowToUse({ holding }: { holding: Holding }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Part title={t('certificates.newOne.done.how')}>
      <dl className={styles.ways}>
        {holding.key === 'own' && (
          <Way
            name={t('certificates.newOne.done.convert')}
            hint={t('certificates.newOne.done.convertHow')}
          >
            <Command text={pkcs12Command(holding)} />
          </Way>
        )}
        {(['firefox', 'chrome'] as const).map(browser => (
          <Way
            key={browser}
            name={t(`certificates.newOne.done.${browser}`)}
            hint={t(`certificates.newOne.done.${browser}How`)}
          />
        ))}
        {(['curl', 'git', 'ssh'] as const).map(program => (
          <Way
            key={program}
            name={t(`certificates.newOne.done.${program}`)}
            hint={
              program === 'ssh'
                ? t('certificates.newOne.done.sshHow')
                : undefined
            }
          >
            {commandsFor(program, holding).map(command => (
              <Command key={command} text={command} />
            ))}
          </Way>
        ))}
      </dl>
    </Part>
  );
}

/** A program, where to look in it, and what to type. */
function Way(props: { name: string; hint?: string; children?: ReactNode }) {
  const { name, hint, children } = props;
  return (
    <div>
      <dt>
        <Text weight="bold">{name}</Text>
      </dt>
      <dd>
        {hint && (
          <Text as="p" color="secondary">
            {hint}
          </Text>
        )}
        {children}
      </dd>
    </div>
  );
}

function Command({ text }: { text: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <div className={styles.command}>
      <code>{text}</code>
      <CopyButton value={text} label={t('person.copyValue', { value: text })} />
    </div>
  );
}
