import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Text, ToggleButton, ToggleButtonGroup } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import { useRef } from 'react';
import { useMay } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { PageTurner } from '../page/Pagination';
import { EmptyState, StaleNotice } from '../page/states';
import {
  focusFirstResult,
  isTooShort,
  Results,
  TextSearch,
  useArrowKeys,
} from '../page/TextSearch';
import { PeopleCards, ViewSwitch } from '../people/PeopleCards';
import { PeopleTable } from '../people/PeopleTable';
import { counted, directoryTranslationRef } from '../translation';
import { Section } from './About';
import { ExportButton } from './ExportButton';
import styles from './Members.module.css';
import { CardsQuery } from './PersonCards';
import {
  type AskMembers,
  type MembersAnswer,
  MEMBERSHIPS,
  type MembersQuestion,
  PAGE_SIZE,
  useMembers,
  useMembersQuestion,
} from './useMembers';

/** The members of a group, on pages, searched by the server. */
export function Members(props: {
  groupname: string;

  /** Whether the page already states that its data is not current. */
  isOld: boolean;
}) {
  const { groupname, isOld } = props;
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

/** Search, filter and layout of the members. */
function MembersBar(props: {
  question: MembersQuestion;
  ask: AskMembers;

  /** Number of matching members, once loaded. */
  total: number | undefined;

  /** Moves the focus to the members. */
  onLeaveDown: () => void;
}) {
  const { question, ask, total, onLeaveDown } = props;
  const { text, membership, view } = question;
  const { t } = useTranslationRef(directoryTranslationRef);
  const isWaiting = isTooShort(text);
  const isAll = !text && membership === 'all';

  return (
    <>
      <div className={styles.bar}>
        <TextSearch
          size="small"
          label={t('group.members.search')}
          placeholder={t('group.members.placeholder')}
          text={text}
          isTooShort={isWaiting}
          onSearch={next => ask({ text: next }, { replace: true })}
          onLeaveDown={onLeaveDown}
        />
        <div className={styles.choices}>
          <ToggleButtonGroup
            aria-label={t('group.members.membership')}
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[membership]}
            onSelectionChange={([key]) =>
              ask({ membership: key as MembersQuestion['membership'] })
            }
          >
            {MEMBERSHIPS.map(one => (
              <ToggleButton key={one} id={one}>
                {t(`group.members.${one}`)}
              </ToggleButton>
            ))}
          </ToggleButtonGroup>
          <ViewSwitch view={view} onChange={next => ask({ view: next })} />
        </div>
      </div>
      <div className={styles.total}>
        {total !== undefined && !isWaiting && (
          <Text role="status" variant="body-medium" color="secondary">
            {t(
              isAll ? 'group.members.total' : 'group.members.found',
              counted(total),
            )}
          </Text>
        )}
      </div>
    </>
  );
}

/** States why there is no member to show, with a button that shows others. */
function NoMembers(props: { question: MembersQuestion; ask: AskMembers }) {
  const { question, ask } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { text, membership, page } = question;
  if (page > 1) {
    return (
      <EmptyState
        icon={<RiUserSearchLine />}
        title={t('group.members.pastEnd', { page: page.toLocaleString() })}
        actions={
          <Button onPress={() => ask({ page: 1 })}>
            {t('group.members.firstPage')}
          </Button>
        }
      />
    );
  }
  if (!text && membership === 'all') {
    return (
      <EmptyState
        icon={<RiUserSearchLine />}
        title={t('group.members.empty')}
        description={t('group.members.emptyHint')}
      />
    );
  }
  const reasons = [
    ...(text ? [t('group.members.searched', { text: visibleText(text) })] : []),
    ...(membership === 'direct' ? [t('group.members.noDirect')] : []),
    ...(membership === 'indirect' ? [t('group.members.noIndirect')] : []),
  ];
  return (
    <EmptyState
      icon={<RiUserSearchLine />}
      title={t('group.members.noMatch')}
      description={text ? reasons[0] : reasons.join(' ')}
      actions={
        <Button onPress={() => ask({ text: '', membership: 'all' })}>
          {t('group.members.everybody')}
        </Button>
      }
    />
  );
}
