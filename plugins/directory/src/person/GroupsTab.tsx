import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, SearchField } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { DirectoryText } from '../components/DirectoryText';
import { QueryPanel, Rows } from '../page/QueryPanel';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import { MembershipRow } from './groups/MembershipRow';
import { SponsoredGroups } from './groups/SponsoredGroups';
import type { Memberships } from './groups/useMemberships';
import styles from './GroupsTab.module.css';

/** Options of {@link GroupsTab}. */
export interface GroupsTabProps {
  /** What the person is called. */
  name: string;
  query: UseQueryResult<Memberships>;
}

/** Somebody's groups: direct ones first, inherited ones marked, with reasons. */
export function GroupsTab({ name, query }: GroupsTabProps) {
  return (
    <QueryPanel query={query}>
      {data => <Groups name={name} {...data} />}
    </QueryPanel>
  );
}

function Groups(props: { name: string } & Memberships) {
  const { name, memberships, sponsoredOnly } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [text, setText] = useState('');

  const wanted = text.trim().toLowerCase();
  const isWanted = (...texts: (string | null)[]) =>
    texts.some(one => one?.toLowerCase().includes(wanted));
  const shown = memberships.filter(({ groupname, description }) =>
    isWanted(groupname, description),
  );
  const sponsored = sponsoredOnly.filter(groupname => isWanted(groupname));

  if (memberships.length + sponsoredOnly.length === 0) {
    return (
      <EmptyState
        icon={<RiGroupLine />}
        title={t('person.groups.none', {
          name: <DirectoryText value={name} />,
        })}
      />
    );
  }
  return (
    <>
      <SearchField
        aria-label={t('person.groups.filter')}
        placeholder={t('person.groups.filter')}
        size="small"
        value={text}
        onChange={setText}
        className={styles.filter}
      />
      {shown.length > 0 && (
        <Rows>
          {shown.map(membership => (
            <MembershipRow
              key={membership.groupname}
              name={name}
              membership={membership}
            />
          ))}
        </Rows>
      )}
      {sponsored.length > 0 && <SponsoredGroups groups={sponsored} />}
      {shown.length + sponsored.length === 0 && (
        <EmptyState
          title={t('person.groups.noMatch', { text: text.trim() })}
          actions={
            <Button variant="secondary" onPress={() => setText('')}>
              {t('person.groups.clear')}
            </Button>
          }
        />
      )}
    </>
  );
}
