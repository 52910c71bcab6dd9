import { either, equal } from '../DirectoryClient';
import type { People } from '../People';
import { askForPage, drawPage, PAGE_SIZE } from './drawPage';
import { entryGoals, pageGoals } from './goals';
import type { Question } from './Question';
import { userAttributes } from './userAttributes';

const isUser = equal('objectClass', 'fasUser');

/** Who is calling, one user and what belongs to them, all users by the page. */
export function userQuestions(people: People): readonly Question[] {
  return [
    oneUser(people),
    whoAmI(),
    anyPage(people),
    groupsOfUser(people),
    agreementsOfUser(people),
  ];
}

function oneUser(people: People): Question {
  return {
    name: '/users/{u}/',
    goals: entryGoals,
    modes: ['session', 'negotiate', 'token'],
    draw(random) {
      const username = random.pick(people.usernames);
      return {
        path: `/users/${username}/`,
        expected: [`"username":${JSON.stringify(username)}`],
        ask: directory =>
          directory.base({
            dn: directory.userDn(username),
            filter: isUser,
            attributes: userAttributes,
          }),
        entries: 1,
      };
    },
  };
}

function whoAmI(): Question {
  return {
    name: '/me/',
    goals: entryGoals,
    modes: ['session', 'negotiate'],
    draw: (_random, username) => ({
      path: '/me/',
      expected: [`"username":${JSON.stringify(username)}`],
      ask: directory =>
        directory.below({
          container: directory.containers.accounts,
          filters: [equal('krbPrincipalName', directory.principal(username))],
          attributes: ['uid', 'krbPrincipalName', 'objectClass'],
        }),
      entries: 1,
    }),
  };
}

function anyPage(people: People): Question {
  return {
    name: '/users/ any page',
    goals: pageGoals,
    modes: ['session', 'negotiate', 'token'],
    draw(random) {
      const { number, names, expected } = drawPage(random, people.usernames);
      return {
        path: `/users/?page_size=${PAGE_SIZE}&page_number=${number}`,
        expected,
        // Which names are on a page, only all of them can tell.
        async ask(directory) {
          await directory.below({
            container: directory.containers.users,
            filters: [isUser],
            attributes: ['uid'],
          });
          return askForPage(directory, names);
        },
        entries: names.length,
      };
    },
  };
}

function groupsOfUser(people: People): Question {
  return {
    name: '/users/{u}/groups/',
    draw(random) {
      const { username, groups } = random.pick(people.all);
      return {
        path: `/users/${username}/groups/`,
        expected: [`"total_results":${groups.size}`],
        async ask(directory) {
          await directory.base({
            dn: directory.userDn(username),
            filter: isUser,
            attributes: ['memberOf'],
          });
          if (groups.size === 0) {
            return [];
          }
          // Which of them are served.
          return directory.below({
            container: directory.containers.groups,
            filters: [
              equal('objectClass', 'fasGroup'),
              either([...groups].map(name => equal('cn', name))),
            ],
            attributes: ['cn'],
          });
        },
        entries: groups.size,
      };
    },
  };
}

function agreementsOfUser(people: People): Question {
  return {
    name: '/users/{u}/agreements/',
    draw(random) {
      const { username, agreements } = random.pick(people.all);
      return {
        path: `/users/${username}/agreements/`,
        expected: [`"total_results":${agreements}`],
        async ask(directory) {
          const dn = directory.userDn(username);
          await directory.base({ dn, filter: isUser, attributes: ['uid'] });
          return directory.below({
            container: directory.containers.agreements,
            filters: [
              equal('objectClass', 'fasAgreement'),
              equal('ipaEnabledFlag', 'TRUE'),
              equal('memberUser', dn),
            ],
            attributes: ['cn'],
          });
        },
        entries: agreements,
      };
    },
  };
}
