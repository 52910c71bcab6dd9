import { isServed, type Group, type People } from '../People';
import {
  entryGoals,
  IS_USER,
  PAGE_SIZE,
  pageGoals,
  randomPage,
  type Scenario,
} from './Scenario';

const GROUP_ATTRIBUTES = [
  'cn',
  'description',
  'fasMailingList',
  'fasURL',
  'fasIRCChannel',
  'fasDiscussionURL',
];

/** Requests for a group, a membership, and pages of members. */
export function groupScenarios(people: People): readonly Scenario[] {
  return [
    {
      name: '/groups/{g}/',
      goals: entryGoals,
      modes: ['session', 'negotiate'],
      next(random) {
        const { name } = random.pick(people.groups);
        return {
          path: `/groups/${encodeURIComponent(name)}/`,
          expected: [`"groupname":"${name}"`],
          ldap: {
            entries: 1,
            query: directory =>
              directory.read(
                directory.groupDn(name),
                '(objectClass=fasGroup)',
                GROUP_ATTRIBUTES,
              ),
          },
        };
      },
    },
    isMember(people),
    members('of ~1,000', people.groupOfSize(1000)),
    {
      ...members('of the largest', people.largestGroup),
      modes: ['session', 'negotiate'],
    },
  ];
}

/** Half of the users are members. */
function isMember(people: People): Scenario {
  const groups = people.groups.filter(group => group.members.length > 0);
  return {
    name: '/groups/{g}/is-member/{u}',
    goals: entryGoals,
    modes: ['session', 'negotiate'],
    next(random) {
      const group = random.pick(groups);
      const username = random.pick(
        random.below(2) === 0 ? group.members : people.usernames,
      );
      const person = people.byName(username);
      const result = person.groups.has(group.name) && !person.locked;
      return {
        path: `/groups/${encodeURIComponent(group.name)}/is-member/${username}`,
        expected: [`{"result":${result}}`],
        ldap: {
          entries: result ? 1 : 0,
          async query(directory) {
            const entries = await directory.read(
              directory.userDn(username),
              `(memberOf=${directory.groupDn(group.name)})`,
              ['nsAccountLock'],
            );
            return entries.filter(entry => entry.nsAccountLock !== 'TRUE');
          },
        },
      };
    },
  };
}

function members(size: string, group: Group): Scenario {
  return {
    name: `/groups/{g}/members/ ${size}`,
    goals: pageGoals,
    next(random) {
      const { number, expected } = randomPage(random, group.members);
      const name = encodeURIComponent(group.name);
      return {
        path: `/groups/${name}/members/?page_size=${PAGE_SIZE}&page_number=${number}`,
        expected,
        ldap: {
          entries: group.members.length,
          // `member` lacks nested groups and does not show locked accounts.
          async query(directory) {
            const entries = await directory.search(
              directory.users,
              `(&${IS_USER}(memberOf=${directory.groupDn(group.name)}))`,
              ['uid', 'nsAccountLock'],
            );
            return entries.filter(
              ({ uid, nsAccountLock }) =>
                isServed(String(uid)) && nsAccountLock !== 'TRUE',
            );
          },
        },
      };
    },
  };
}
