import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Flex, Text } from '@backstage/ui';
import { useId } from 'react';
import type { Browser } from '../fixes/Client';
import type { Fix } from '../fixes/Fix';
import { kerberosSignInTranslationRef } from '../translation';
import { CopyableText } from './CopyableText';

/** One thing to do: what it is, how, and what to copy for it. */
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
