import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonIcon, Text } from '@backstage/ui';
import {
  RiArrowLeftDoubleLine,
  RiArrowLeftSLine,
  RiArrowRightDoubleLine,
  RiArrowRightSLine,
} from '@remixicon/react';
import { useEffect, useRef } from 'react';
import { directoryTranslationRef } from '../translation';
import styles from './Pagination.module.css';

/**
 * Range of the current page and buttons for the other pages; nothing on a
 * single page. It belongs at the end of the element that holds the list: a new
 * page scrolls to its top.
 */
export function PageTurner(props: {
  /** Counted from 1. */
  page: number;
  pageSize: number;
  total: number;
  onTurn: (page: number) => void;
}) {
  const { page, pageSize, total, onTurn } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const nav = useRef<HTMLElement>(null);
  const shownPage = useRef(page);

  useEffect(() => {
    if (shownPage.current !== page) {
      shownPage.current = page;
      showTop(nav.current?.parentElement);
    }
  }, [page]);

  if (total <= pageSize) {
    return null;
  }
  const last = Math.ceil(total / pageSize);
  const offset = (page - 1) * pageSize;
  const turns = [
    { name: 'first', to: 1, icon: <RiArrowLeftDoubleLine /> },
    { name: 'previous', to: page - 1, icon: <RiArrowLeftSLine /> },
    { name: 'next', to: page + 1, icon: <RiArrowRightSLine /> },
    { name: 'last', to: last, icon: <RiArrowRightDoubleLine /> },
  ] as const;

  return (
    <nav ref={nav} aria-label={t('paging.label')} className={styles.turner}>
      <Text color="secondary" className={styles.range}>
        {t('paging.range', {
          from: (offset + 1).toLocaleString(),
          to: Math.min(offset + pageSize, total).toLocaleString(),
          total: total.toLocaleString(),
        })}
      </Text>
      {turns.map(({ name, to, icon }) => (
        <ButtonIcon
          key={name}
          aria-label={t(`paging.${name}`)}
          icon={icon}
          size="small"
          variant="secondary"
          isDisabled={to < 1 || to > last || to === page}
          onPress={() => onTurn(to)}
        />
      ))}
    </nav>
  );
}

/** Scrolls to the top of an element when that is out of view. */
function showTop(list: HTMLElement | null | undefined) {
  if (list && list.getBoundingClientRect().top < 0) {
    list.scrollIntoView({ block: 'start' });
  }
}
