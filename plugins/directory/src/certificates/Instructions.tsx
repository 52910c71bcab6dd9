import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { CopyButton } from '../components/CopyButton';
import { directoryTranslationRef } from '../translation';
import styles from './Instructions.module.css';

/** Placeholder for the path of the user's own key. */
export const OWN_KEY = 'your.key';

/** Instructions for each program, with commands to copy. */
export function Instructions(props: {
  items: readonly {
    title: string;
    hint: string;
    commands?: readonly string[];
  }[];
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <dl className={styles.instructions}>
      {props.items.map(({ title, hint, commands = [] }) => (
        <div key={title}>
          <dt>
            <Text weight="bold">{title}</Text>
          </dt>
          <dd>
            <Text as="p" color="secondary">
              {hint}
            </Text>
            {commands.map(command => (
              <div key={command} className={styles.command}>
                <code>{command}</code>
                <CopyButton
                  value={command}
                  label={t('copy.value', { value: command })}
                />
              </div>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
