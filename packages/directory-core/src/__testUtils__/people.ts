import type { Accounts } from '../directory/Accounts';
import type { Caller } from '../directory/Caller';
import type { Principal } from '../directory/Principal';

/** Returns a user principal with an alias and an e-mail address. */
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

/** Returns a caller with a Kerberos ticket. */
export function holder(account: Principal): Caller {
  return {
    kind: 'kerberos',
    principal: account.canonicalName!,
    credential: 'ticket',
    account: { ...account, source: 'live' },
    client: { ip: '127.0.0.1' },
  };
}

/** Returns accounts that find these users by user name. */
export function accountsOf(
  people: readonly Principal[],
): Pick<Accounts, 'findLive'> {
  return {
    async findLive(query) {
      const found = people.find(
        ({ username }) => 'username' in query && username === query.username,
      );
      return found && { ...found, source: 'live' };
    },
  };
}
