import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { RiCheckLine } from '@remixicon/react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { directoryTranslationRef } from '../../translation';
import styles from './Stepper.module.css';

/** The steps of a request, in order. */
const steps = ['profile', 'key', 'check', 'done'] as const;

/** A step of a request. */
export type Step = (typeof steps)[number];

/** Shows the steps of a request and marks the current one. */
export function Stepper({ step }: { step: Step }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const current = steps.indexOf(step);
  return (
    <ol className={styles.steps} aria-label={t('request.steps')}>
      {steps.map((name, index) => (
        <li
          key={name}
          className={styles.step}
          aria-current={index === current ? 'step' : undefined}
        >
          <span className={styles.number} aria-hidden="true">
            {index < current ? <RiCheckLine size={14} /> : index + 1}
          </span>
          <span className={styles.name}>{t(`request.step.${name}`)}</span>
        </li>
      ))}
    </ol>
  );
}

/**
 * A step and its heading. The heading receives focus when the step opens, so
 * that keyboard and screen reader users start at the top.
 */
export function StepFrame(props: {
  title: string;
  children: ReactNode;

  /** Whether the step uses the full width. Defaults to false. */
  isWide?: boolean;

  /** Buttons for the previous and next step. */
  actions?: ReactNode;
}) {
  const { title, children, isWide = false, actions } = props;
  const heading = useRef<HTMLHeadingElement>(null);

  useEffect(() => heading.current?.focus({ preventScroll: true }), []);

  return (
    <div className={styles.frame} data-wide={isWide || undefined}>
      <Text
        as="h2"
        ref={heading}
        tabIndex={-1}
        variant="title-x-small"
        weight="bold"
        className={styles.title}
      >
        {title}
      </Text>
      {children}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}

/**
 * A radio button with a description and more fields. It is a native radio
 * button because the radio group of `@backstage/ui` does not support fields
 * between its buttons.
 */
export function Choice(props: {
  /** Name of the radio button group. */
  name: string;
  title: string;
  description?: string;
  isChosen: boolean;
  onChoose: () => void;

  /** More fields, shown when the button is selected. */
  children?: ReactNode;
}) {
  const { name, title, description, isChosen, onChoose, children } = props;
  const id = useId();
  return (
    <div className={styles.choice} data-chosen={isChosen || undefined}>
      <label className={styles.label}>
        <input
          type="radio"
          name={name}
          checked={isChosen}
          onChange={onChoose}
          aria-labelledby={`${id}-title`}
          aria-describedby={description && `${id}-description`}
        />
        <span>
          <span id={`${id}-title`} className={styles.choiceTitle}>
            {title}
          </span>
          {description && (
            <span id={`${id}-description`} className={styles.description}>
              {description}
            </span>
          )}
        </span>
      </label>
      {isChosen && children && <div className={styles.more}>{children}</div>}
    </div>
  );
}
