import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Menu, MenuItem, MenuTrigger, Text } from '@backstage/ui';
import { RiArrowDownSLine, RiMailLine, RiMessage3Line } from '@remixicon/react';
import { useState } from 'react';
import { useCurrentUser } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { useChatServers } from '../components/LinkList';
import type { DirectoryLink } from '../components/LinkList';
import { mailHref } from '../components/safeHref';
import { Section } from '../page/DirectoryPage';
import { QueryPanel } from '../page/QueryPanel';
import { CardsSkeleton, PeopleCards } from '../people/PeopleCards';
import type { FoundPerson } from '../people/peopleQuery';
import { directoryTranslationRef } from '../translation';
import { contactsOf } from '../person/contactsOf';
import { useMembership } from './MembershipCheck';
import { useIsSponsor, useSponsors } from './useMembers';
import { locale } from '../language';

/** Whether a contact link opens a chat. */
function isChat({ kind, href }: DirectoryLink) {
  return (kind === 'matrix' || kind === 'irc') && href !== undefined;
}

/** Number of sponsors shown initially. */
const PREVIEW_COUNT = 6;

/** The sponsors of a group, who can add members. */
export function Sponsors({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const query = useSponsors(groupname);
  const isSponsor = useIsSponsor(groupname);
  const hasSponsors = query.data && query.data.length > 0;

  return (
    <Section
      title={t('group.sponsors.title')}
      note={
        hasSponsors
          ? t(isSponsor ? 'group.sponsors.own' : 'group.sponsors.hint')
          : undefined
      }
      actions={
        query.data && <AskToJoin groupname={groupname} sponsors={query.data} />
      }
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

/**
 * Menu for users who are not members: each item opens a message to a sponsor in
 * the user's client. The portal does not send anything.
 */
function AskToJoin(props: { groupname: string; sponsors: FoundPerson[] }) {
  const { groupname, sponsors } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data: user } = useCurrentUser();
  const membership = useMembership(groupname, user ?? undefined);
  const servers = useChatServers();
  const choices = sponsors
    .filter(({ username }) => username !== user)
    .flatMap(sponsor => {
      const { username, human_name, emails } = sponsor;
      const name = visibleText(human_name ?? username);
      const text = { group: groupname, sponsor: name, username: user ?? '' };
      const subject = encodeURIComponent(t('group.sponsors.joinSubject', text));
      // RFC 6068 §5: lines end with CRLF.
      const body = encodeURIComponent(
        t('group.sponsors.joinBody', text).replace(/\n/g, '\r\n'),
      );
      const icon = emails?.[0] ? <RiMailLine /> : <RiMessage3Line />;
      const href = emails?.[0]
        ? `${mailHref(emails[0])}?subject=${subject}&body=${body}`
        : contactsOf(sponsor, servers).find(isChat)?.href;
      return href ? [{ username, name, href, icon }] : [];
    })
    .slice(0, PREVIEW_COUNT);
  if (membership.data !== 'no' || choices.length === 0) {
    return null;
  }
  return (
    <MenuTrigger>
      <Button size="small" variant="secondary" iconEnd={<RiArrowDownSLine />}>
        {t('group.sponsors.join')}
      </Button>
      <Menu aria-label={t('group.sponsors.join')}>
        {choices.map(({ username, name, href, icon }) => (
          <MenuItem key={username} href={href} iconStart={icon}>
            {name}
          </MenuItem>
        ))}
      </Menu>
    </MenuTrigger>
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
                total: sponsors.length.toLocaleString(locale()),
              })}
        </Button>
      )}
    </>
  );
}
