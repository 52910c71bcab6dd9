import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, VisuallyHidden } from '@backstage/ui';
import {
  RiCheckLine,
  RiErrorWarningLine,
  RiFileCopyLine,
} from '@remixicon/react';
import { useEffect, useState } from 'react';
import { kerberosSignInTranslationRef } from '../translation';
import styles from './CopyableText.module.css';

/** How long the outcome is shown, in milliseconds. */
const SHOWN_MS = 2_000;

const looks = {
  copy: <RiFileCopyLine aria-hidden />,
  copied: <RiCheckLine aria-hidden />,
  copyFailed: <RiErrorWarningLine aria-hidden />,
};

/** Text to type or to paste elsewhere, with a button that copies it. */
export function CopyableText(props: {
  readonly text: string;
  /** The element that says what it is for. */
  readonly labelId: string;
}) {
  const { text, labelId } = props;
  const { t } = useTranslationRef(kerberosSignInTranslationRef);
  const [outcome, setOutcome] = useState<keyof typeof looks>('copy');

  useEffect(() => {
    if (outcome === 'copy') {
      return undefined;
    }
    const timer = setTimeout(() => setOutcome('copy'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
    } catch {
      setOutcome('copyFailed'); // no permission, or not a secure context
    }
  }

  const label = t(`action.${outcome}`);
  return (
    <div className={styles.box}>
      <pre className={styles.text}>
        <code>{text}</code>
      </pre>
      <Button
        aria-describedby={labelId}
        iconStart={looks[outcome]}
        onPress={copy}
        size="small"
        variant="tertiary"
      >
        {label}
      </Button>
      <VisuallyHidden role="status">
        {outcome === 'copy' ? undefined : label}
      </VisuallyHidden>
    </div>
  );
}
