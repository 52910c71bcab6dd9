import { GROUPS_DN } from '../directory/baseTree';
import { escapeRdnValue } from '../ldif/escapeRdnValue';
import { LdifEntry } from '../ldif/LdifEntry';

/** A group before it becomes an LDAP entry; members and sponsors are DNs. */
export interface Group {
  name: string;
  description?: string;
  members: readonly string[];
  /** `memberManager`: people, or groups whose members sponsor. */
  sponsors: readonly string[];
  /** Whether it has a number, as FreeIPA's own groups mostly have. */
  posix: boolean;
  /** None: a group outside the Fedora Account System. */
  fas?: FasGroupProfile;
}

/** What the Fedora Account System adds. */
export interface FasGroupProfile {
  url?: string;
  mailingList?: string;
  /** `irc:` and `matrix:` URIs. */
  channels: readonly string[];
  discussionUrl?: string;
}

/** The DN of a group of this name. */
export function groupDn(name: string): string {
  return `cn=${escapeRdnValue(name)},${GROUPS_DN}`;
}

/** A group as FreeIPA keeps it. */
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
    description: group.description ?? [],
    ipaUniqueID: ids.uniqueId,
    gidNumber: group.posix ? String(ids.number) : [],
    fasURL: fas?.url ?? [],
    fasMailingList: fas?.mailingList ?? [],
    fasIRCChannel: fas?.channels ?? [],
    fasDiscussionURL: fas?.discussionUrl ?? [],
    member: group.members,
    memberManager: group.sponsors,
  });
}
