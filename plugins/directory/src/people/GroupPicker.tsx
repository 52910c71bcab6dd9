import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Combobox } from '@backstage/ui';
import { useState } from 'react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { useDebounced } from '../page/TextSearch';
import { directoryTranslationRef } from '../translation';

/** Groups offered at a time. */
const OFFERED = 10;

/** Picks a group by a part of its name, which the server looks for. */
export function GroupPicker({ onPick }: { onPick: (group: string) => void }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [typed, setTyped] = useState('');
  const settled = useDebounced(typed.trim(), 250);

  const { data, isFetching } = useDirectoryQuery({
    key: ['groups offered', settled],
    enabled: Array.from(settled).length >= 3,
    keepPrevious: true,
    load: async (client, signal) => {
      const found = await client.get('/search/groups/', {
        params: { query: { groupname: settled, page_size: OFFERED } },
        signal,
      });
      return found.data.result;
    },
  });

  return (
    <Combobox
      label={t('people.filter.group')}
      placeholder={t('people.filter.groupHint')}
      options={(data ?? []).map(({ groupname, description }) => ({
        id: groupname,
        label: visibleText(groupname),
        description: visibleText(description ?? '') || undefined,
      }))}
      search={{ mode: 'server', inputValue: typed, onInputChange: setTyped }}
      loading={{ state: isFetching ? 'filtering' : 'idle' }}
      selectedKey={null}
      onSelectionChange={key => {
        if (key !== null) {
          onPick(String(key));
          setTyped('');
        }
      }}
    />
  );
}
