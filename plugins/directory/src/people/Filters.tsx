import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  DialogTrigger,
  Popover,
  Tag,
  TagGroup,
  useBreakpoint,
} from '@backstage/ui';
import { RiFilter3Line } from '@remixicon/react';
import { lazy, Suspense } from 'react';
import { visibleText } from '../components/DirectoryText';
import { locale } from '../language';
import { readable } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import styles from './Filters.module.css';
import type { PeopleFilters } from './peopleQuery';

// Loads the calendar and the group picker only when the panel is opened.
const FilterPanel = lazy(() =>
  import('./FilterPanel').then(m => ({ default: m.FilterPanel })),
);

interface FiltersProps {
  filters: PeopleFilters;
  onChange: (change: Partial<PeopleFilters>) => void;
}

/**
 * The active filters and a button that opens the filter panel: in a popover, or
 * in a drawer on narrow screens.
 */
export function Filters({ filters, onChange }: FiltersProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { up } = useBreakpoint();
  const panel = (
    <Suspense fallback={<div className={styles.panel} />}>
      <FilterPanel filters={filters} onChange={onChange} />
    </Suspense>
  );

  return (
    <div className={styles.filters}>
      <DialogTrigger>
        <Button variant="secondary" iconStart={<RiFilter3Line />}>
          {t('people.filter.title')}
        </Button>
        {up('sm') ? (
          <Popover placement="bottom start" hideArrow>
            <div className={`${styles.panel} ${readable}`}>{panel}</div>
          </Popover>
        ) : (
          <Dialog className={styles.drawer}>
            <DialogHeader>{t('people.filter.title')}</DialogHeader>
            <DialogBody className={readable}>{panel}</DialogBody>
            <DialogFooter>
              <Button slot="close">{t('people.filter.done')}</Button>
            </DialogFooter>
          </Dialog>
        )}
      </DialogTrigger>
      <FilterTags filters={filters} onChange={onChange} />
    </div>
  );
}

function FilterTags({ filters, onChange }: FiltersProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { group: groups, has } = filters;

  const tags = [
    ...groups.map(group => ({
      id: `group ${group}`,
      text: t('people.filter.groupValue', { group: visibleText(group) }),
      without: { group: groups.filter(one => one !== group) },
    })),
    ...(['since', 'before'] as const).flatMap(bound => {
      const day = filters[bound];
      return day
        ? [
            {
              id: bound,
              text: t(`people.filter.${bound}Value`, { date: formatDay(day) }),
              without: { [bound]: undefined },
            },
          ]
        : [];
    }),
    ...has.map(field => ({
      id: `has ${field}`,
      text: t('people.filter.hasValue', {
        field: t(`people.field.${field}`),
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
      {tags.map(({ id, text }) => (
        <Tag key={id} id={id} textValue={text}>
          {text}
        </Tag>
      ))}
    </TagGroup>
  );
}

/** Formats a date in the user's locale, independent of the time zone. */
function formatDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(locale(), {
    dateStyle: 'medium',
    timeZone: 'UTC',
  });
}
