import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import { visibleText } from '../components/DirectoryText';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import type { AskGroups, GroupsQuestion } from './useGroupsQuestion';

/** Options of {@link NoGroups}. */
export interface NoGroupsProps {
  question: GroupsQuestion;
  ask: AskGroups;
}

/** Why there is no group to show, and one click to where there are some. */
export function NoGroups({ question, ask }: NoGroupsProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { text, page } = question;
  if (page > 1) {
    return (
      <EmptyState
        icon={<RiGroupLine />}
        title={t('groups.nothing.pastEnd', { page: page.toLocaleString() })}
        actions={
          <Button onPress={() => ask({ page: 1 })}>
            {t('groups.nothing.firstPage')}
          </Button>
        }
      />
    );
  }
  if (!text) {
    return (
      <EmptyState
        icon={<RiGroupLine />}
        title={t('groups.nothing.empty')}
        description={t('groups.nothing.emptyHint')}
      />
    );
  }
  return (
    <EmptyState
      icon={<RiGroupLine />}
      title={t('groups.nothing.title')}
      description={t('groups.nothing.searched', { text: visibleText(text) })}
      actions={
        <Button onPress={() => ask({ text: '' })}>
          {t('groups.nothing.everything')}
        </Button>
      }
    />
  );
}
