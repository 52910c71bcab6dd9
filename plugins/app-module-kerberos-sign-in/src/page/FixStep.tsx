import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Text, VisuallyHidden } from '@backstage/ui';
import {
  RiCheckLine,
  RiErrorWarningLine,
  RiFileCopyLine,
} from '@remixicon/react';
import { useEffect, useId, useState } from 'react';
import { type Browser, type Fix, FIREFOX_PREFERENCE } from '../fixes';
import { kerberosSignInTranslationRef } from '../translation';
import styles from './FixStep.module.css';

/** A step with a title, instructions and a text to copy. */
export function FixStep(props: {
  readonly fix: Fix;
  readonly browser: Browser;
  readonly host: string;
}) {
  const { fix, host } = props;
  const { t } = useTranslationRef(kerberosSignInTranslationRef);
  const titleId = useId();
  const params = {
    browser: t(`browser.${props.browser}`),
    host,
    page: 'about:config',
    preference: FIREFOX_PREFERENCE,
  };

  return (
    <Flex direction="column" gap="1">
      <Text as="h2" variant="body-medium" weight="bold" id={titleId}>
        {t(`fix.${fix.kind}Title`, params)}
      </Text>
      <Text as="p" variant="body-medium">
        {t(`fix.${fix.how}`, params)}
      </Text>
      {fix.copyable !== undefined && (
        <CopyableText text={fix.copyable} labelId={titleId} />
      )}
    </Flex>
  );
}

/** Time for which the outcome is shown, in milliseconds. */
const SHOWN_MS = 2_000;

const icons = {
  copy: <RiFileCopyLine aria-hidden />,
  copied: <RiCheckLine aria-hidden />,
  copyFailed: <RiErrorWarningLine aria-hidden />,
};

/** A text with a copy button. */
function CopyableText(props: {
  readonly text: string;
  /** ID of the element with the label of the text. */
  readonly labelId: string;
}) {
  const { text, labelId } = props;
  const { t } = useTranslationRef(kerberosSignInTranslationRef);
  const [outcome, setOutcome] = useState<keyof typeof icons>('copy');

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
      setOutcome('copyFailed'); // no permission or not a secure context
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
        iconStart={icons[outcome]}
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
