import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Skeleton } from '@backstage/ui';
import { directoryTranslationRef } from '../translation';
import cards from './PeopleCards.module.css';
import type { PeopleQuestion } from './peopleQuery';
import section from './PeopleSection.module.css';

const PLACES = Array.from({ length: 24 }, (_, index) => index);

/** The shape of the results, before there are any. */
export function PeopleSkeleton({ view }: Pick<PeopleQuestion, 'view'>) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <div role="status" aria-label={t('states.loading')}>
      <div className={section.heading}>
        <Skeleton width={180} height={20} />
      </div>
      {view === 'table' ? (
        <Skeleton width="100%" height={560} />
      ) : (
        <div className={cards.cards}>
          {PLACES.map(place => (
            <Skeleton key={place} width="100%" height={68} />
          ))}
        </div>
      )}
    </div>
  );
}
