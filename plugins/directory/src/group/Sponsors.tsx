import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Text } from '@backstage/ui';
import { useState } from 'react';
import { Section } from '../page/DirectoryPage';
import { QueryPanel } from '../page/QueryPanel';
import { CardsSkeleton, PeopleCards } from '../people/PeopleCards';
import type { FoundPerson } from '../people/peopleQuery';
import { directoryTranslationRef } from '../translation';
import { useSponsors } from './useMembers';

/** Number of sponsors shown at first. */
const PREVIEW_COUNT = 6;

/** The sponsors of a group, who can add members. */
export function Sponsors({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const query = useSponsors(groupname);
  const hasSponsors = query.data && query.data.length > 0;

  return (
    <Section
      title={t('group.sponsors.title')}
      note={hasSponsors ? t('group.sponsors.hint') : undefined}
    >
      <QueryPanel
        query={query}
        skeleton={<CardsSkeleton count={3} />}
        hidesStaleNotice
      >
        {sponsors => <SponsorCards sponsors={sponsors} />}
      </QueryPanel>
    </Section>
  );
}

function SponsorCards({ sponsors }: { sponsors: FoundPerson[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [showsAll, setShowsAll] = useState(false);
  if (sponsors.length === 0) {
    return (
      <Text as="p" color="secondary">
        {t('group.sponsors.none')}
      </Text>
    );
  }
  return (
    <>
      <PeopleCards
        people={showsAll ? sponsors : sponsors.slice(0, PREVIEW_COUNT)}
      />
      {sponsors.length > PREVIEW_COUNT && (
        <Button
          size="small"
          variant="tertiary"
          onPress={() => setShowsAll(!showsAll)}
        >
          {showsAll
            ? t('group.sponsors.showFewer')
            : t('group.sponsors.showAll', {
                total: sponsors.length.toLocaleString(),
              })}
        </Button>
      )}
    </>
  );
}
