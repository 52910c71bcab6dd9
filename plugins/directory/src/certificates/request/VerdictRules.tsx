import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import type { SigningVerdict } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiQuestionLine,
} from '@remixicon/react';
import { DirectoryText } from '../../components/DirectoryText';
import { directoryTranslationRef } from '../../translation';
import styles from './VerdictRules.module.css';

const marks = {
  passed: <RiCheckboxCircleLine aria-hidden="true" />,
  failed: <RiCloseCircleLine aria-hidden="true" />,
  open: <RiQuestionLine aria-hidden="true" />,
};

/** Every rule with a tick or a cross, and why. */
export function VerdictRules({ rules }: { rules: SigningVerdict['rules'] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <ul className={styles.rules}>
      {rules.map(({ rule, passed, message }) => {
        const state = stateOf(passed);
        return (
          <li key={rule} className={styles.rule}>
            <span className={styles[state]}>
              {marks[state]}
              <span className={styles.state}>
                {t(`certificates.newOne.check.${state}`)}
              </span>
            </span>
            <span className={styles.words}>
              <Text as="p" weight="bold">
                {t(`certificates.newOne.rule.${rule}`)}
              </Text>
              {passed !== null && (
                <Text as="p" variant="body-small" color="secondary">
                  <DirectoryText value={message} />
                </Text>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function stateOf(passed: boolean | null): keyof typeof marks {
  if (passed === null) {
    return 'open';
  }
  return passed ? 'passed' : 'failed';
}
