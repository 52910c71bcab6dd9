import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiBug2Line,
  RiChat3Line,
  RiGithubFill,
  RiGitlabFill,
  RiGlobalLine,
  RiHashtag,
  RiMailLine,
  RiMessage3Line,
  RiRssLine,
} from '@remixicon/react';
import type { ReactElement } from 'react';
import { DirectoryText, visibleText } from '../../components/DirectoryText';
import { LinkList } from '../../components/LinkList';
import { directoryTranslationRef } from '../../translation';
import { type Contact, contactsOf } from '../contactsOf';

const icons: Record<Contact['kind'], ReactElement> = {
  email: <RiMailLine />,
  matrix: <RiMessage3Line />,
  irc: <RiHashtag />,
  nick: <RiChat3Line />,
  github: <RiGithubFill />,
  gitlab: <RiGitlabFill />,
  website: <RiGlobalLine />,
  feed: <RiRssLine />,
  bugs: <RiBug2Line />,
};

/** The ways to reach somebody, each with its kind, and to copy. */
export function ContactLinks({ person }: { person: User }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const contacts = contactsOf(person);
  const name = person.human_name ?? person.username;
  if (contacts.length === 0) {
    return (
      <Text as="p" variant="body-small" color="secondary">
        {t('person.contact.none', { name: <DirectoryText value={name} /> })}
      </Text>
    );
  }
  return (
    <LinkList
      label={t('person.contact.title')}
      links={contacts.map(({ kind, text, href }) => ({
        kind: t(`person.contact.${kind}`),
        icon: icons[kind],
        text,
        href,
        copyLabel: t('person.copyValue', { value: visibleText(text) }),
      }))}
    />
  );
}
