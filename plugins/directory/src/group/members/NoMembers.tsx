import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import { visibleText } from '../../components/DirectoryText';
import { EmptyState } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import type { AskMembers, MembersQuestion } from './useMembersQuestion';

/** Options of {@link NoMembers}. */
export interface NoMembersProps {
  question: MembersQuestion;
  ask: AskMembers;
}

/** Why there is no member to show, and one click to where there are some. */
export function NoMembers({ question, ask }: NoMembersProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { text, membership, page } = question;
  if (page > 1) {
    return (
      <EmptyState
        icon={<RiUserSearchLine />}
        title={t('group.members.pastEnd', { page: page.toLocaleString() })}
        actions={
          <Button onPress={() => ask({ page: 1 })}>
            {t('group.members.firstPage')}
          </Button>
        }
      />
    );
  }
  if (!text && membership === 'all') {
    return (
      <EmptyState
        icon={<RiUserSearchLine />}
        title={t('group.members.empty')}
        description={t('group.members.emptyHint')}
      />
    );
  }
  const reasons = [
    ...(text ? [t('group.members.searched', { text: visibleText(text) })] : []),
    ...(membership === 'direct' ? [t('group.members.noDirect')] : []),
    ...(membership === 'indirect' ? [t('group.members.noIndirect')] : []),
  ];
  return (
    <EmptyState
      icon={<RiUserSearchLine />}
      title={t('group.members.noMatch')}
      description={text ? reasons[0] : reasons.join(' ')}
      actions={
        <Button onPress={() => ask({ text: '', membership: 'all' })}>
          {t('group.members.everybody')}
        </Button>
      }
    />
  );
}
