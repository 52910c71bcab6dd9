import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  DialogTrigger,
  Popover,
  useBreakpoint,
} from '@backstage/ui';
import { RiFilter3Line } from '@remixicon/react';
import { lazy, Suspense } from 'react';
import { readable } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import styles from './Filters.module.css';
import { FilterTags } from './FilterTags';
import type { PeopleFilters } from './peopleQuery';

// The calendar and the picker are for the few who open them.
const FilterPanel = lazy(() =>
  import('./FilterPanel').then(m => ({ default: m.FilterPanel })),
);

/** Options of {@link Filters}. */
export interface FiltersProps {
  filters: PeopleFilters;
  onChange: (change: Partial<PeopleFilters>) => void;
}

/**
 * The filters that are set, and the way to set them: beside the button, or in
 * a drawer where the screen is narrow.
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
