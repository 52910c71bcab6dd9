import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Text, VisuallyHidden } from '@backstage/ui';
import {
  RiCheckLine,
  RiErrorWarningLine,
  RiFileCopyLine,
} from '@remixicon/react';
import { useEffect, useId, useState } from 'react';
import type { Browser, Fix } from '../fixes';
import { kerberosSignInTranslationRef } from '../translation';
import styles from './FixStep.module.css';

/** One step: its title, instructions and a text to copy. */
export function FixStep(props: {
  readonly fix: Fix;
  readonly browser: Browser;
  readonly host: string;
}) {
  const { title, how, copyable } = useWords(props);
  const titleId = useId();

  return (
    <Flex direction="column" gap="1">
      <Text as="h2" variant="body-medium" weight="bold" id={titleId}>
        {title}
      </Text>
      <Text as="p" variant="body-medium">
        {how}
      </Text>
      {copyable !== undefined && (
        <CopyableText text={copyable} labelId={titleId} />
      )}
    </Flex>
  );
}

interface Words {
  readonly title: string;
  readonly how: string;
  readonly copyable?: string;
}

function useWords(props: {
  readonly fix: Fix;
  readonly browser: Browser;
  readonly host: string;
}): Words {
  const { fix, host } = props;
  const { t } = useTranslationRef(kerberosSignInTranslationRef);
  const browser = t(`browser.${props.browser}`);
  const allowHostTitle = t('fix.allowHostTitle', { browser, host });
  switch (fix.kind) {
    case 'ticket':
      return {
        title: t('fix.ticketTitle'),
        how: t(`fix.${fix.how}`),
        copyable: fix.command,
      };
    case 'clock':
      return {
        title: t('fix.clockTitle'),
        how: t(fix.command ? 'fix.clockType' : 'fix.clockElsewhere'),
        copyable: fix.command,
      };
    case 'allowHost':
      return {
        title: allowHostTitle,
        how: t('fix.allowHostType', { browser }),
        copyable: fix.command,
      };
    case 'allowHostInFirefox':
      return {
        title: allowHostTitle,
        how: t('fix.allowHostFirefox', {
          page: fix.page,
          preference: fix.preference,
        }),
        copyable: fix.value,
      };
    default:
      return {
        title: allowHostTitle,
        how: t('fix.allowHostElsewhere', { host }),
      };
  }
}

/** Time for which the outcome is shown, in milliseconds. */
const SHOWN_MS = 2_000;

const looks = {
  copy: <RiFileCopyLine aria-hidden />,
  copied: <RiCheckLine aria-hidden />,
  copyFailed: <RiErrorWarningLine aria-hidden />,
};

/** Text to use elsewhere, with a button that copies it. */
function CopyableText(props: {
  readonly text: string;
  /** ID of the element that labels the text. */
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
