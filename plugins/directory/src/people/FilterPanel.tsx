import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Checkbox,
  CheckboxGroup,
  Combobox,
  DatePicker,
  Flex,
} from '@backstage/ui';
import { parseDate } from '@internationalized/date';
import { useState } from 'react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { useDebounced } from '../page/SearchList';
import { directoryTranslationRef } from '../translation';
import {
  isFiltered,
  NO_FILTERS,
  type PeopleFilters,
  PRESENCE_FIELDS,
  type PresenceField,
} from './peopleQuery';

/** The filters of the list. Each change takes effect immediately. */
export function FilterPanel(props: {
  filters: PeopleFilters;
  onChange: (change: Partial<PeopleFilters>) => void;
}) {
  const { filters, onChange } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { group, before, has } = filters;

  return (
    <Flex direction="column" gap="4">
      <GroupPicker
        onPick={picked => onChange({ group: [...new Set([...group, picked])] })}
      />
      <DatePicker
        label={t('people.filter.before')}
        value={before ? parseDate(before) : null}
        onChange={date => onChange({ before: date?.toString() })}
      />
      <CheckboxGroup
        label={t('people.filter.has')}
        value={[...has]}
        onChange={fields => onChange({ has: fields as PresenceField[] })}
      >
        {PRESENCE_FIELDS.map(field => (
          <Checkbox key={field} value={field}>
            {t(`people.field.${field}`)}
          </Checkbox>
        ))}
      </CheckboxGroup>
      <Button
        variant="secondary"
        isDisabled={!isFiltered(filters)}
        onPress={() => onChange(NO_FILTERS)}
      >
        {t('people.filter.clear')}
      </Button>
    </Flex>
  );
}

/** Maximum number of suggested groups. */
const SUGGESTIONS = 10;

/** Field that suggests groups by part of their name, found by the server. */
function GroupPicker({ onPick }: { onPick: (group: string) => void }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [typed, setTyped] = useState('');
  const settled = useDebounced(typed.trim());

  const { data, isFetching } = useDirectoryQuery({
    key: ['group suggestions', settled],
    enabled: settled !== '',
    keepPrevious: true,
    load: async (client, signal) => {
      const found = await client.get('/search/groups/', {
        params: { query: { q: settled, page_size: SUGGESTIONS } },
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
      value={null}
      onChange={key => {
        if (key !== null) {
          onPick(String(key));
          setTyped('');
        }
      }}
    />
  );
}
