import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { directoryTranslationRef } from '../translation';
import { GroupTree } from './nested/GroupTree';
import { useNestedGroups } from './nested/useNestedGroups';
import { Section } from './Section';

/** The groups whose members are in, too; nothing for most groups. */
export function NestedGroups({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data, error } = useNestedGroups(groupname);
  if (data?.length === 0 || (!data && !error)) {
    return null;
  }
  return (
    <Section title={t('group.nested.title')} note={t('group.nested.hint')}>
      <GroupTree way={[groupname]} />
    </Section>
  );
}
