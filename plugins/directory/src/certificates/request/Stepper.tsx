import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Radio, RadioGroup, Text } from '@backstage/ui';
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

/** Radio buttons with titles and descriptions. */
export function Choices<Name extends string>(props: {
  label: string;
  choices: readonly { name: Name; title: string; description: string }[];
  chosen: Name;
  onChoose: (name: Name) => void;
}) {
  const { label, choices, chosen, onChoose } = props;
  const id = useId();
  return (
    <RadioGroup
      aria-label={label}
      value={chosen}
      onChange={name => onChoose(name as Name)}
    >
      {choices.map(({ name, title, description }, index) => (
        <Radio
          key={name}
          value={name}
          className={styles.choice}
          aria-labelledby={`${id}-title-${index}`}
          aria-describedby={`${id}-description-${index}`}
        >
          <span>
            <Text as="p" weight="bold" id={`${id}-title-${index}`}>
              {title}
            </Text>
            <Text
              as="p"
              variant="body-small"
              color="secondary"
              id={`${id}-description-${index}`}
            >
              {description}
            </Text>
          </span>
        </Radio>
      ))}
    </RadioGroup>
  );
}
