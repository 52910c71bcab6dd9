import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Skeleton } from '@backstage/ui';
import type { MaskedMember } from '@directory-gateway/backstage-plugin-directory-common';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState } from '../page/states';
import cards from '../people/PeopleCards.module.css';
import { type FoundPerson, PERSON_FIELDS } from '../people/peopleQuery';
import type { Match, MatchedPerson } from '../people/searchPeople';
import { directoryTranslationRef } from '../translation';

/**
 * Cards that are loading, loaded or failed. Loaded cards stay after a failed
 * refresh, which the page states once.
 */
export function CardsQuery<Data>(props: {
  query: UseQueryResult<Data>;

  /** Number of placeholder cards. */
  places: number;

  children: (data: Data) => ReactNode;
}) {
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

/** Fields of members and sponsors, who are never locked. */
export const MEMBER_MASK = PERSON_FIELDS.filter(
  field => field !== 'locked',
).join(',');

/**
 * Converts a member or a sponsor, queried with {@link MEMBER_MASK}, for the lists
 * of users; the searched text is highlighted.
 */
export function toMatchedPerson(
  member: MaskedMember,
  text = '',
): MatchedPerson {
  const person = { ...member, locked: false } as FoundPerson;
  const wanted = text.toLowerCase();
  const matches = text
    ? (['username', 'human_name'] as const).flatMap((field): Match[] => {
        const value = person[field];
        return value?.toLowerCase().includes(wanted)
          ? [{ field, text, value }]
          : [];
      })
    : [];
  return { person, matches };
}
