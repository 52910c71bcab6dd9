import { AGREEMENTS_DN, GROUPS_DN } from '../directory/baseTree';
import { LdifEntry, escapeRdnValue } from '../ldif/LdifEntry';
import type { Faker } from '@faker-js/faker';
import { personDn } from './Person';

/** A group before it becomes an LDAP entry; members and sponsors are DNs. */
export interface Group {
  name: string;
  description?: string;
  members: readonly string[];
  /** `memberManager`: users, or groups whose members are sponsors. */
  sponsors: readonly string[];
  /** Whether it has a group number. */
  posix: boolean;
  /** `undefined`: a group outside the Fedora Account System. */
  fas?: FasGroupProfile;
}

/** Attributes of the Fedora Account System. */
interface FasGroupProfile {
  url?: string;
  mailingList?: string;
  /** `irc:` and `matrix:` URIs. */
  channels: readonly string[];
  discussionUrl?: string;
}

/** Returns the DN of a group. */
export function groupDn(name: string): string {
  return `cn=${escapeRdnValue(name)},${GROUPS_DN}`;
}

/** Returns the entry of a group with FreeIPA's object classes. */
export function groupEntry(
  group: Group,
  ids: { number: number; uniqueId: string },
): LdifEntry {
  const { fas } = group;
  return new LdifEntry(groupDn(group.name), {
    objectClass: [
      ...['top', 'groupofnames', 'nestedgroup', 'ipausergroup', 'ipaobject'],
      ...(group.posix ? ['posixgroup'] : []),
      ...(fas ? ['fasgroup'] : []),
    ],
    cn: group.name,
    description: group.description,
    ipaUniqueID: ids.uniqueId,
    gidNumber: group.posix ? String(ids.number) : undefined,
    fasURL: fas?.url,
    fasMailingList: fas?.mailingList,
    fasIRCChannel: fas?.channels,
    fasDiscussionURL: fas?.discussionUrl,
    member: group.members,
    memberManager: group.sponsors,
  });
}

/**
 * Returns agreements with many, few and no signatures, and a disabled one. The
 * group `packager` is a `member` of the first, so that `memberOf` of its users
 * names the agreement, including `minimal`, who has not signed it.
 */
export function agreements(
  faker: Faker,
  people: readonly string[],
): LdifEntry[] {
  const reluctant = personDn('minimal');
  const signers = (share: number, ...always: string[]) => {
    const drawn = faker.helpers.arrayElements(
      [...people],
      Math.floor(share * people.length),
    );
    return [...new Set([...always, ...drawn])].filter(dn => dn !== reluctant);
  };
  const [alice, bob, carol] = ['alice', 'bob', 'carol'].map(personDn);
  return [
    {
      name: 'FPCA',
      text: 'Project Contributor Agreement',
      signed: signers(0.8, alice, bob, carol),
      groups: [groupDn('packager')],
      enabled: true,
    },
    {
      name: 'CentOS Agreement',
      text: 'CentOS (contributors), *agreement*',
      signed: signers(0.1, alice),
      groups: [],
      enabled: true,
    },
    {
      name: 'Old CLA',
      text: 'No longer in force',
      signed: signers(0.3, alice, bob),
      groups: [],
      enabled: false,
    },
    {
      name: 'Nobody signed',
      text: 'Waits for its first signature',
      signed: [],
      groups: [],
      enabled: true,
    },
  ].map(
    ({ name, text, signed, groups, enabled }) =>
      new LdifEntry(`cn=${escapeRdnValue(name)},${AGREEMENTS_DN}`, {
        objectClass: ['ipaassociation', 'fasagreement'],
        cn: name,
        description: text,
        ipaUniqueID: faker.string.uuid(),
        ipaEnabledFlag: enabled ? 'TRUE' : 'FALSE',
        member: groups,
        memberUser: signed,
      }),
  );
}
