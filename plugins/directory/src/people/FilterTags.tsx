import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Tag, TagGroup } from '@backstage/ui';
import { visibleText } from '../components/DirectoryText';
import { directoryTranslationRef } from '../translation';
import type { PeopleFilters } from './peopleQuery';

/** Options of {@link FilterTags}. */
export interface FilterTagsProps {
  filters: PeopleFilters;
  onChange: (change: Partial<PeopleFilters>) => void;
}

/** The filters that are set, each with a button that takes it away. */
export function FilterTags({ filters, onChange }: FilterTagsProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { groups, before, has } = filters;

  const tags = [
    ...groups.map(group => ({
      id: `group ${group}`,
      words: t('people.filter.groupValue', { group: visibleText(group) }),
      without: { groups: groups.filter(one => one !== group) },
    })),
    ...(before
      ? [
          {
            id: 'before',
            words: t('people.filter.beforeValue', { date: formatDay(before) }),
            without: { before: undefined },
          },
        ]
      : []),
    ...has.map(field => ({
      id: `has ${field}`,
      words: t('people.filter.hasValue', {
        field: t(`people.filter.${field}`),
      }),
      without: { has: has.filter(one => one !== field) },
    })),
  ];
  if (tags.length === 0) {
    return null;
  }
  return (
    <TagGroup
      aria-label={t('people.filter.active')}
      onRemove={keys => {
        const removed = tags.find(({ id }) => keys.has(id));
        if (removed) {
          onChange(removed.without);
        }
      }}
    >
      {tags.map(({ id, words }) => (
        <Tag key={id} id={id} textValue={words}>
          {words}
        </Tag>
      ))}
    </TagGroup>
  );
}

/** A day in the reader's locale, whatever their time zone. */
function formatDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, {
    dateStyle: 'medium',
    timeZone: 'UTC',
  });
}
