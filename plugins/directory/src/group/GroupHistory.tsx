import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { useState } from 'react';
import { isNotFound } from '../api/useDirectoryQuery';
import { History } from '../history/History';
import { useHistory } from '../history/useHistory';
import { Section } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import { useMayReadHistory } from './useMembers';

/**
 * The history of a group, for its sponsors and users who may read all
 * histories.
 */
export function GroupHistory({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [page, setPage] = useState(1);
  const enabled = useMayReadHistory(groupname);
  const query = useHistory({ kind: 'group', name: groupname, page, enabled });
  // Histories exist only with directory.changes.history.
  if (!enabled || isNotFound(query.error)) {
    return null;
  }
  return (
    <Section title={t('history.title')} note={t('history.hint')}>
      <History kind="group" query={query} page={page} onPage={setPage} />
    </Section>
  );
}
