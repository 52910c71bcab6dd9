import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { useRef } from 'react';
import { useMay } from '../api/useDirectoryQuery';
import { PageTurner } from '../page/Pagination';
import { StaleNotice } from '../page/states';
import {
  focusFirstResult,
  isTooShort,
  Results,
  useArrowKeys,
} from '../page/TextSearch';
import { PeopleCards } from '../people/PeopleCards';
import { PeopleTable } from '../people/PeopleTable';
import { directoryTranslationRef } from '../translation';
import { ExportButton } from './ExportButton';
import { MembersBar } from './members/MembersBar';
import { NoMembers } from './members/NoMembers';
import { useMembersQuestion } from './members/useMembersQuestion';
import { CardsQuery } from './PersonCards';
import { Section } from './Section';
import { type MembersAnswer, PAGE_SIZE, useMembers } from './useMembers';

/** Options of {@link Members}. */
export interface MembersProps {
  groupname: string;

  /** Whether the page says already that it shows what was loaded before. */
  isOld: boolean;
}

/** Who is in a group: a page at a time, searched by the server. */
export function Members({ groupname, isOld }: MembersProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mayExport = useMay('directory.members.export');
  const [question, ask] = useMembersQuestion();
  const { page, view } = question;
  const query = useMembers(groupname, question);
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = query;
  const section = useRef<HTMLDivElement>(null);
  const results = useRef<HTMLDivElement>(null);
  const handleKeys = useArrowKeys(results, () =>
    section.current?.querySelector('input')?.focus(),
  );
  const isWaiting = isTooShort(question.text);

  const list = ({ people, total }: MembersAnswer) =>
    people.length === 0 ? (
      <NoMembers question={question} ask={ask} />
    ) : (
      <>
        {view === 'table' ? (
          <PeopleTable people={people} />
        ) : (
          <PeopleCards people={people} />
        )}
        <PageTurner
          page={page}
          pageSize={PAGE_SIZE}
          total={total}
          onTurn={next => ask({ page: next })}
        />
      </>
    );

  return (
    <Section
      title={t('group.members.title')}
      actions={mayExport && <ExportButton groupname={groupname} />}
    >
      <div ref={section}>
        <MembersBar
          question={question}
          ask={ask}
          isTooShort={isWaiting}
          total={data?.total}
          onLeaveDown={() => focusFirstResult(results.current)}
        />
        {error && data && !isOld && (
          <StaleNotice
            error={error}
            loadedAt={dataUpdatedAt}
            onRetry={refetch}
          />
        )}
        <Results
          ref={results}
          onKeyDown={view === 'cards' ? handleKeys : undefined}
          isBusy={isPlaceholderData}
          isOld={isWaiting}
        >
          {!(isWaiting && !data) && (
            <CardsQuery query={query} places={12}>
              {list}
            </CardsQuery>
          )}
        </Results>
      </div>
    </Section>
  );
}
