import type { Caller } from '../directory/Caller';
import type { Directory } from '../directory/Directory';
import type { Principal } from '../directory/Principal';

/** A user's entry, with an alias and an address of their own. */
export function person(username: string, groups: string[] = []): Principal {
  return {
    dn: `uid=${username},cn=users`,
    kind: 'user',
    username,
    served: true,
    principalNames: [`${username}@EXAMPLE.TEST`, `${username}2@EXAMPLE.TEST`],
    canonicalName: `${username}@EXAMPLE.TEST`,
    emails: [`${username}@example.test`],
    locked: false,
    groups: new Set(groups),
  };
}

/** A caller with a ticket. */
export function holder(account: Principal): Caller {
  return {
    kind: 'kerberos',
    principal: account.canonicalName!,
    credential: 'ticket',
    account,
    client: { ip: '127.0.0.1' },
  };
}

/** A directory of these people alone, which finds them by their user names. */
export function directoryOf(
  people: readonly Principal[],
): Pick<Directory, 'findPrincipal'> {
  return {
    findPrincipal: async query =>
      people.find(
        ({ username }) => 'username' in query && username === query.username,
      ),
  };
}
