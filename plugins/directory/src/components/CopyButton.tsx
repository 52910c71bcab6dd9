import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  ButtonIcon,
  Tooltip,
  TooltipTrigger,
  VisuallyHidden,
} from '@backstage/ui';
import {
  RiCheckLine,
  RiErrorWarningLine,
  RiFileCopyLine,
} from '@remixicon/react';
import { useEffect, useState } from 'react';
import { directoryTranslationRef } from '../translation';

/** Time for which the outcome is shown, in milliseconds. */
const SHOWN = 2_000;

const icons = {
  ready: <RiFileCopyLine />,
  copied: <RiCheckLine />,
  failed: <RiErrorWarningLine />,
};

/** Button that copies a value to the clipboard and shows the outcome. */
export function CopyButton(props: {
  value: string;

  /** Label of the button, for example "Copy username". */
  label: string;

  /** Whether the button shows its label. Defaults to false: only an icon. */
  isLabeled?: boolean;
}) {
  const { value, label, isLabeled } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [state, setState] = useState<keyof typeof icons>('ready');

  useEffect(() => {
    if (state === 'ready') {
      return undefined;
    }
    const timer = setTimeout(() => setState('ready'), SHOWN);
    return () => clearTimeout(timer);
  }, [state]);

  async function copy() {
    try {
      await navigator.clipboard.writeText(value);
      setState('copied');
    } catch {
      setState('failed'); // no permission or not a secure context
    }
  }

  const outcome = state === 'ready' ? undefined : t(`copy.${state}`);
  return (
    <>
      {isLabeled ? (
        <Button
          iconStart={icons[state]}
          onPress={copy}
          size="small"
          variant="tertiary"
        >
          {label}
        </Button>
      ) : (
        <TooltipTrigger delay={300}>
          <ButtonIcon
            aria-label={label}
            icon={icons[state]}
            onPress={copy}
            size="small"
            variant="tertiary"
          />
          <Tooltip>{outcome ?? label}</Tooltip>
        </TooltipTrigger>
      )}
      <VisuallyHidden role="status">{outcome}</VisuallyHidden>
    </>
  );
}
