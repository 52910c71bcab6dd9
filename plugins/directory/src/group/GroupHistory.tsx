import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { useState } from 'react';
import { isNotFound, useCurrentUser, useMay } from '../api/useDirectoryQuery';
import { History } from '../history/History';
import { useHistory } from '../history/useHistory';
import { Section } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import { useSponsors } from './useMembers';

/** The history of a group, for its sponsors and users who may read all. */
export function GroupHistory({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [page, setPage] = useState(1);
  const mayReadAll = useMay('directory.history.read');
  const { data: user } = useCurrentUser();
  const { data: sponsors } = useSponsors(groupname);
  const isSponsor = sponsors?.some(({ username }) => username === user);
  const enabled = mayReadAll || isSponsor === true;
  const query = useHistory({ kind: 'group', name: groupname, page, enabled });
  // Without directory.changes.history, there is none.
  if (!enabled || isNotFound(query.error)) {
    return null;
  }
  return (
    <Section title={t('history.title')} note={t('history.hint')}>
      <History kind="group" query={query} page={page} onPage={setPage} />
    </Section>
  );
}
