import type { People } from '../People';
import {
  anyOf,
  entryGoals,
  IS_USER,
  PAGE_SIZE,
  pageGoals,
  randomPage,
  readPage,
  USER_ATTRIBUTES,
  type Scenario,
} from './Scenario';

/** Requests for the caller, for a user and the user's groups, for all users. */
export function userScenarios(people: People): readonly Scenario[] {
  return [
    {
      name: '/users/{u}/',
      goals: entryGoals,
      modes: ['session', 'negotiate', 'token'],
      next(random) {
        const username = random.pick(people.usernames);
        return {
          path: `/users/${username}/`,
          expected: [`"username":"${username}"`],
          ldap: {
            entries: 1,
            query: directory =>
              directory.read(
                directory.userDn(username),
                IS_USER,
                USER_ATTRIBUTES,
              ),
          },
        };
      },
    },
    {
      name: '/me/',
      goals: entryGoals,
      modes: ['session', 'negotiate'],
      next: (_random, username) => ({
        path: '/me/',
        expected: [`"username":"${username}"`],
        ldap: {
          entries: 1,
          query: directory =>
            directory.search(
              directory.accounts,
              `(krbPrincipalName=${directory.principal(username)})`,
              ['uid', 'krbPrincipalName', 'objectClass'],
            ),
        },
      }),
    },
    {
      name: '/users/ any page',
      goals: pageGoals,
      modes: ['session', 'negotiate', 'token'],
      next(random) {
        const { number, names, expected } = randomPage(
          random,
          people.usernames,
        );
        return {
          path: `/users/?page_size=${PAGE_SIZE}&page_number=${number}`,
          expected,
          ldap: {
            entries: names.length,
            // Only a list of all names determines the users of a page.
            async query(directory) {
              await directory.search(directory.users, IS_USER, ['uid']);
              return readPage(directory, names);
            },
          },
        };
      },
    },
    groupsOfUser(people),
    agreementsOfUser(people),
  ];
}

function groupsOfUser(people: People): Scenario {
  return {
    name: '/users/{u}/groups/',
    goals: entryGoals,
    next(random) {
      const { username, groups } = random.pick(people.all);
      return {
        path: `/users/${username}/groups/`,
        expected: [`"total_results":${groups.size}`],
        ldap: {
          entries: groups.size,
          async query(directory) {
            const dn = directory.userDn(username);
            await directory.read(dn, IS_USER, ['memberOf']);
            // The API serves only some of them.
            return groups.size === 0
              ? []
              : directory.search(
                  directory.groups,
                  `(&(objectClass=fasGroup)${anyOf('cn', [...groups])})`,
                  ['cn'],
                );
          },
        },
      };
    },
  };
}

function agreementsOfUser(people: People): Scenario {
  return {
    name: '/users/{u}/agreements/',
    goals: entryGoals,
    next(random) {
      const { username, agreements } = random.pick(people.all);
      return {
        path: `/users/${username}/agreements/`,
        expected: [`"total_results":${agreements}`],
        ldap: {
          entries: agreements,
          async query(directory) {
            const dn = directory.userDn(username);
            await directory.read(dn, IS_USER, ['uid']);
            return directory.search(
              directory.agreements,
              `(&(objectClass=fasAgreement)(ipaEnabledFlag=TRUE)(memberUser=${dn}))`,
              ['cn'],
            );
          },
        },
      };
    },
  };
}
