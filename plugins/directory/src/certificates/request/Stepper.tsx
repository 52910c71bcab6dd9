import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { RiCheckLine } from '@remixicon/react';
import { directoryTranslationRef } from '../../translation';
import styles from './Stepper.module.css';

/** The steps of a request, in order. */
export const steps = ['profile', 'key', 'check', 'done'] as const;

/** A step of a request. */
export type Step = (typeof steps)[number];

/** Where the reader is on the way to a certificate. */
export function Stepper({ step }: { step: Step }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const current = steps.indexOf(step);
  return (
    <ol className={styles.steps} aria-label={t('certificates.newOne.steps')}>
      {steps.map((name, index) => (
        <li
          key={name}
          className={styles.step}
          aria-current={index === current ? 'step' : undefined}
        >
          <span className={styles.number} aria-hidden="true">
            {index < current ? <RiCheckLine size={14} /> : index + 1}
          </span>
          <span className={styles.name}>
            {t(`certificates.newOne.step.${name}`)}
          </span>
        </li>
      ))}
    </ol>
  );
}
