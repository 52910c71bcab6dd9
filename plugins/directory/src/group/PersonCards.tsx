import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Skeleton } from '@backstage/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState } from '../page/states';
import cards from '../people/PeopleCards.module.css';
import { directoryTranslationRef } from '../translation';

/** Options of {@link CardsQuery}. */
export interface CardsQueryProps<Data> {
  query: UseQueryResult<Data>;

  /** How many cards there are likely to be. */
  places: number;

  children: (data: Data) => ReactNode;
}

/**
 * Cards that are under way, there, or failed. What is there stays when it
 * fails later; that it is old is for the page to say, once.
 */
export function CardsQuery<Data>(props: CardsQueryProps<Data>) {
  const { query, places, children } = props;
  const { data, error, refetch } = query;
  const { t } = useTranslationRef(directoryTranslationRef);
  if (data !== undefined) {
    return <>{children(data)}</>;
  }
  if (error) {
    return <ErrorState error={error} onRetry={refetch} />;
  }
  return (
    <div role="status" aria-label={t('states.loading')} className={cards.cards}>
      {Array.from({ length: places }, (_, place) => (
        <Skeleton key={place} width="100%" height={68} />
      ))}
    </div>
  );
}
