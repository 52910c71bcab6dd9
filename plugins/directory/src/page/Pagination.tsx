import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, ButtonIcon, Text } from '@backstage/ui';
import {
  RiArrowLeftDoubleLine,
  RiArrowLeftSLine,
  RiArrowRightDoubleLine,
  RiArrowRightSLine,
} from '@remixicon/react';
import { type ReactElement, useEffect, useRef } from 'react';
import { locale } from '../language';
import { directoryTranslationRef } from '../translation';
import styles from './Pagination.module.css';
import { EmptyState } from './states';

/**
 * Number of items on a page: divides evenly into two, three, four or six
 * columns.
 */
export const PAGE_SIZE = 24;

/**
 * Range of the current page and buttons for other pages. Empty if there is only
 * one page. Must be the last child of the element with the list: a page change
 * scrolls to the top of that element.
 */
export function Pagination(props: {
  /** Page number, starting at 1. */
  page: number;
  total: number;
  onChange: (page: number) => void;
}) {
  const { page, total, onChange } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const nav = useRef<HTMLElement>(null);
  const shownPage = useRef(page);

  useEffect(() => {
    if (shownPage.current !== page) {
      shownPage.current = page;
      scrollToTop(nav.current?.parentElement);
    }
  }, [page]);

  if (total <= PAGE_SIZE) {
    return null;
  }
  const last = Math.ceil(total / PAGE_SIZE);
  const offset = (page - 1) * PAGE_SIZE;
  const buttons = [
    { name: 'first', to: 1, icon: <RiArrowLeftDoubleLine /> },
    { name: 'previous', to: page - 1, icon: <RiArrowLeftSLine /> },
    { name: 'next', to: page + 1, icon: <RiArrowRightSLine /> },
    { name: 'last', to: last, icon: <RiArrowRightDoubleLine /> },
  ] as const;

  return (
    <nav
      ref={nav}
      aria-label={t('pagination.label')}
      className={styles.pagination}
    >
      <Text color="secondary" className={styles.range}>
        {t('pagination.range', {
          from: (offset + 1).toLocaleString(locale()),
          to: Math.min(offset + PAGE_SIZE, total).toLocaleString(locale()),
          total: total.toLocaleString(locale()),
        })}
      </Text>
      {buttons.map(({ name, to, icon }) => (
        <ButtonIcon
          key={name}
          aria-label={t(`pagination.${name}`)}
          icon={icon}
          size="small"
          variant="secondary"
          isDisabled={to < 1 || to > last || to === page}
          onPress={() => onChange(to)}
        />
      ))}
    </nav>
  );
}

/** Scrolls to the top of an element if it is out of view. */
function scrollToTop(list: HTMLElement | null | undefined) {
  if (list && list.getBoundingClientRect().top < 0) {
    list.scrollIntoView({ block: 'start' });
  }
}

/** Shown for a page number beyond the last page. */
export function PastEnd(props: {
  icon: ReactElement;
  page: number;
  onChange: (page: number) => void;
}) {
  const { icon, page, onChange } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <EmptyState
      icon={icon}
      title={t('pagination.pastEnd', { page: page.toLocaleString(locale()) })}
      actions={
        <Button onPress={() => onChange(1)}>{t('pagination.toFirst')}</Button>
      }
    />
  );
}
