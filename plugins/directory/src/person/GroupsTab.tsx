import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Badge,
  Button,
  DialogTrigger,
  Popover,
  SearchField,
  Text,
} from '@backstage/ui';
import type { Membership } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiArrowRightLine,
  RiGroupLine,
  RiNodeTree,
  RiStarFill,
} from '@remixicon/react';
import { useState } from 'react';
import { fetchAllPages, useDirectoryQuery } from '../api/useDirectoryQuery';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { GroupLink } from '../components/EntryLink';
import { readable } from '../page/DirectoryPage';
import { Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import styles from './GroupsTab.module.css';

/**
 * Groups of a user: direct memberships first, inherited ones with their path.
 */
export function GroupsTab(props: { name: string } & Memberships) {
  const { name, memberships, sponsoredOnly } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [text, setText] = useState('');

  const lowerCase = text.trim().toLowerCase();
  const matches = (...values: (string | null)[]) =>
    values.some(value => value?.toLowerCase().includes(lowerCase));
  const shown = memberships.filter(({ groupname, description }) =>
    matches(groupname, description),
  );
  const sponsored = sponsoredOnly.filter(groupname => matches(groupname));

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

/** A membership: direct or inherited, with a badge for sponsors. */
export function MembershipRow(props: { name: string; membership: Membership }) {
  const { name, membership } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { groupname, description, direct, sponsor, path } = membership;

  return (
    <li className={rows.row}>
      <div className={rows.text}>
        <GroupLink groupname={groupname} weight="bold" />
        {description && (
          <Text as="p" variant="body-small" color="secondary" truncate>
            <DirectoryText value={description} />
          </Text>
        )}
      </div>
      <div className={rows.badges}>
        {sponsor && (
          <Badge icon={<RiStarFill className={styles.star} />}>
            {t('person.groups.sponsor')}
          </Badge>
        )}
        {!direct && (
          <>
            <Badge icon={<RiNodeTree />}>{t('person.groups.inherited')}</Badge>
            <WhyButton name={name} groupname={groupname} path={path} />
          </>
        )}
      </div>
    </li>
  );
}

/** Groups that a user sponsors without being a member. */
export function SponsoredGroups({ groups }: { groups: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <section className={styles.section}>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('person.groups.sponsored')}
      </Text>
      <Rows>
        {groups.map(groupname => (
          <li key={groupname} className={rows.row}>
            <RiStarFill className={styles.star} size={16} aria-hidden="true" />
            <GroupLink groupname={groupname} weight="bold" />
          </li>
        ))}
      </Rows>
    </section>
  );
}

/** Button that shows the path of an inherited membership. */
export function WhyButton(props: {
  name: string;
  groupname: string;

  /**
   * Groups from the user's direct group to this one; `null` is a hidden group.
   */
  path: readonly (string | null)[];
}) {
  const { name, groupname, path } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const label = t('person.groups.whyOf', {
    name: visibleText(name),
    group: visibleText(groupname),
  });

  return (
    <DialogTrigger>
      <Button size="small" variant="tertiary" aria-label={label}>
        {t('person.groups.why')}
      </Button>
      <Popover aria-label={label} placement="bottom end">
        <ol className={`${styles.path} ${readable}`}>
          <li className={styles.step}>
            <Text weight="bold">
              <DirectoryText value={name} />
            </Text>
          </li>
          {path.map((group, index) => (
            // Hidden groups do not have a name.
            // eslint-disable-next-line react/no-array-index-key
            <li key={index} className={styles.step}>
              <RiArrowRightLine aria-hidden="true" className={styles.arrow} />
              {group === null ? (
                <Text color="secondary">{t('person.groups.hiddenGroup')}</Text>
              ) : (
                <GroupLink groupname={group} />
              )}
            </li>
          ))}
        </ol>
      </Popover>
    </DialogTrigger>
  );
}

/** Groups in which a user is a member or a sponsor. */
export interface Memberships {
  /** Direct memberships first, otherwise in the server's order. */
  memberships: Membership[];

  /** Names of the groups that the user sponsors without being a member. */
  sponsoredOnly: string[];
}

/**
 * Queries the memberships of a user with their paths, and the sponsored groups.
 * Disabled for an empty name.
 */
export function useMemberships(username: string) {
  return useDirectoryQuery({
    key: ['memberships', username],
    enabled: username !== '',
    load: async (client, signal): Promise<Memberships> => {
      const path = { username };
      const [memberships, sponsored] = await Promise.all([
        fetchAllPages(
          query =>
            client.get('/users/{username}/memberships/', {
              params: { path, query },
              signal,
            }),
          signal,
        ),
        fetchAllPages(
          query =>
            client.get('/users/{username}/sponsored-groups/', {
              params: { path, query },
              signal,
            }),
          signal,
        ),
      ]);
      const names = new Set(memberships.map(({ groupname }) => groupname));
      return {
        memberships: [
          ...memberships.filter(({ direct }) => direct),
          ...memberships.filter(({ direct }) => !direct),
        ],
        sponsoredOnly: sponsored
          .map(({ groupname }) => groupname)
          .filter(groupname => !names.has(groupname)),
      };
    },
  });
}
