import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Checkbox,
  CheckboxGroup,
  DatePicker,
  Flex,
} from '@backstage/ui';
import { parseDate } from '@internationalized/date';
import { visibleText } from '../components/DirectoryText';
import { SearchPicker } from '../page/SearchPicker';
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
  const { group, has } = filters;

  return (
    <Flex direction="column" gap="4">
      <GroupPicker
        onPick={picked => onChange({ group: [...new Set([...group, picked])] })}
      />
      {(['since', 'before'] as const).map(bound => (
        <DatePicker
          key={bound}
          label={t(`people.filter.${bound}`)}
          value={filters[bound] ? parseDate(filters[bound]) : null}
          onChange={date => onChange({ [bound]: date?.toString() })}
        />
      ))}
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
  return (
    <SearchPicker
      kind="groups"
      label={t('people.filter.group')}
      placeholder={t('people.filter.groupHint')}
      onPick={onPick}
      load={async (client, q, signal) => {
        const { data } = await client.get('/search/groups/', {
          params: { query: { q, page_size: SUGGESTIONS } },
          signal,
        });
        return data.result.map(({ groupname, description }) => ({
          id: groupname,
          label: visibleText(groupname),
          description: visibleText(description ?? '') || undefined,
        }));
      }}
    />
  );
}
