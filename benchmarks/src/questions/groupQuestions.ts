import { equal } from '../DirectoryClient';
import { isServed, type Group, type People } from '../People';
import { drawPage, PAGE_SIZE } from './drawPage';
import { entryGoals, pageGoals } from './goals';
import type { Question } from './Question';

/** A group of people who know one another's names. */
const MIDDLE_SIZE = 1000;

const groupAttributes = [
  ...['cn', 'description', 'fasMailingList', 'fasURL', 'fasIRCChannel'],
  'fasDiscussionURL',
];

/** One group, who is in it, and whether somebody is. */
export function groupQuestions(people: People): readonly Question[] {
  return [
    {
      name: '/groups/{g}/',
      goals: entryGoals,
      modes: ['session', 'negotiate'],
      draw(random) {
        const { name } = random.pick(people.groups);
        return {
          path: `/groups/${encodeURIComponent(name)}/`,
          expected: [`"groupname":${JSON.stringify(name)}`],
          ask: directory =>
            directory.base({
              dn: directory.groupDn(name),
              filter: equal('objectClass', 'fasGroup'),
              attributes: groupAttributes,
            }),
          entries: 1,
        };
      },
    },
    isMember(people),
    pageOfMembers('of ~1,000', people.groupOfSize(MIDDLE_SIZE)),
    {
      ...pageOfMembers('of the largest', people.largestGroup),
      goals: pageGoals,
      modes: ['session', 'negotiate'],
    },
  ];
}

/** Half of those asked about are in the group. */
function isMember(people: People): Question {
  const inGroups = people.groups.filter(({ members }) => members.length > 0);
  return {
    name: '/groups/{g}/is-member/{u}',
    goals: entryGoals,
    modes: ['session', 'negotiate'],
    draw(random) {
      const group = random.pick(inGroups);
      const username = random.pick(
        random.below(2) === 0 ? group.members : people.usernames,
      );
      const known = people.byName(username);
      const result = known.groups.has(group.name) && !known.locked;
      return {
        path: `/groups/${encodeURIComponent(group.name)}/is-member/${username}`,
        expected: [`{"result":${result}}`],
        async ask(directory) {
          const entries = await directory.base({
            dn: directory.userDn(username),
            filter: equal('memberOf', directory.groupDn(group.name)),
            attributes: ['nsAccountLock'],
          });
          return entries.filter(entry => entry.nsAccountLock !== 'TRUE');
        },
        entries: result ? 1 : 0,
      };
    },
  };
}

function pageOfMembers(which: string, group: Group): Question {
  return {
    name: `/groups/{g}/members/ ${which}`,
    draw(random) {
      const { number, expected } = drawPage(random, group.members);
      return {
        path: `/groups/${encodeURIComponent(
          group.name,
        )}/members/?page_size=${PAGE_SIZE}&page_number=${number}`,
        expected,
        // The group's own values leave out nested groups, and do not tell who
        // is locked, on which the total depends.
        async ask(directory) {
          const entries = await directory.below({
            container: directory.containers.users,
            filters: [
              equal('objectClass', 'fasUser'),
              equal('memberOf', directory.groupDn(group.name)),
            ],
            attributes: ['uid', 'nsAccountLock'],
          });
          return entries.filter(
            ({ uid, nsAccountLock }) =>
              isServed(String(uid)) && nsAccountLock !== 'TRUE',
          );
        },
        entries: group.members.length,
      };
    },
  };
}
