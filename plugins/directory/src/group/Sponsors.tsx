import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Text } from '@backstage/ui';
import { useState } from 'react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { PeopleCards } from '../people/PeopleCards';
import type { MatchedPerson } from '../people/searchPeople';
import { directoryTranslationRef } from '../translation';
import { Section } from './About';
import { CardsQuery, MEMBER_MASK, toMatchedPerson } from './PersonCards';

/** Number of sponsors shown at first. */
const AT_FIRST = 6;

/** The sponsors of a group, who can add members. */
export function Sponsors({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const query = useSponsors(groupname);
  const hasSponsors = query.data && query.data.length > 0;

  return (
    <Section
      title={t('group.sponsors.title')}
      note={hasSponsors ? t('group.sponsors.ask') : undefined}
    >
      <CardsQuery query={query} places={3}>
        {sponsors => <SponsorCards sponsors={sponsors} />}
      </CardsQuery>
    </Section>
  );
}

function SponsorCards({ sponsors }: { sponsors: MatchedPerson[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [showsAll, setShowsAll] = useState(false);
  if (sponsors.length === 0) {
    return (
      <Text as="p" color="secondary">
        {t('group.sponsors.none')} {t('group.sponsors.noneHint')}
      </Text>
    );
  }
  return (
    <>
      <PeopleCards people={showsAll ? sponsors : sponsors.slice(0, AT_FIRST)} />
      {sponsors.length > AT_FIRST && (
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

function useSponsors(groupname: string) {
  return useDirectoryQuery({
    key: ['sponsors', groupname],
    load: async (client, signal): Promise<MatchedPerson[]> => {
      const { data } = await client.get('/groups/{groupname}/sponsors/', {
        params: {
          path: { groupname },
          header: { 'X-Fields': MEMBER_MASK },
        },
        signal,
      });
      return data.result.map(sponsor => toMatchedPerson(sponsor));
    },
  });
}
