import type { Caller } from '../directory/Caller';
import type { Principal, PrincipalLookup } from '../directory/Principal';

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

/** Finds these people by user name. */
export function principalsOf(people: readonly Principal[]): PrincipalLookup {
  return {
    find: async query =>
      people.find(
        ({ username }) => 'username' in query && username === query.username,
      ),
  };
}
