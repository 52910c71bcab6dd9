import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Checkbox,
  CheckboxGroup,
  DatePicker,
  Flex,
} from '@backstage/ui';
import { parseDate } from '@internationalized/date';
import { directoryTranslationRef } from '../translation';
import { GroupPicker } from './GroupPicker';
import {
  isFiltered,
  type PeopleFilters,
  PRESENCE_FIELDS,
  type PresenceField,
} from './peopleQuery';

/** Options of {@link FilterPanel}. */
export interface FilterPanelProps {
  filters: PeopleFilters;
  onChange: (change: Partial<PeopleFilters>) => void;
}

/** Everything that can narrow the list; each change takes effect at once. */
export function FilterPanel({ filters, onChange }: FilterPanelProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { groups, before, has } = filters;

  return (
    <Flex direction="column" gap="4">
      <GroupPicker
        onPick={group => onChange({ groups: [...new Set([...groups, group])] })}
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
            {t(`people.filter.${field}`)}
          </Checkbox>
        ))}
      </CheckboxGroup>
      <Button
        variant="secondary"
        isDisabled={!isFiltered(filters)}
        onPress={() => onChange({ groups: [], before: undefined, has: [] })}
      >
        {t('people.filter.clear')}
      </Button>
    </Flex>
  );
}
