import type { FieldCondition, UserCondition } from '../directory/predicates';
import type { UserField } from '../directory/schema';
import type { User } from '../directory/records';
import type { RankIndex } from './evaluate';
import type { Members } from './tables/MemberRanks';
import type { ServedRecords } from './tables/ServedRecords';

type Served<T extends object> = Omit<ServedRecords<T>, 'set' | 'delete'>;

/** Finds records by conditions on their fields. */
export function fieldIndex<T extends object>(
  served: Served<T>,
): RankIndex<FieldCondition<keyof T>> {
  return {
    size: served.size,
    find: condition => ({ ranks: ranksByField(served, condition) }),
  };
}

/**
 * Finds users by conditions. Only for one turn of the event loop: a write
 * changes ranks.
 */
export function userIndex(options: {
  readonly served: Served<User>;
  readonly members: Members;
  /** Key of a served group by name. */
  readonly groupKey: (groupname: string) => string | undefined;
  /** Rank of a served user by name, in the directory's spelling. */
  readonly rankOf: (username: string) => number | undefined;
}): RankIndex<UserCondition> {
  const { served, members, groupKey, rankOf } = options;
  const flags = new Map<UserField, Uint8Array>();
  return {
    size: served.size,
    find(condition) {
      switch (condition.kind) {
        case 'memberOfAny':
          return { ranks: members.ofAnyGroup() };
        case 'memberOf': {
          const key = groupKey(condition.groupname);
          const ranks =
            key === undefined ? new Uint32Array() : members.all(key);
          return { ranks };
        }
        case 'before':
          return { ranks: served.ranksBefore(condition.field, condition.time) };
        case 'isTrue': {
          const { field } = condition;
          const isTrue = flags.get(field) ?? served.flags(field);
          flags.set(field, isTrue);
          return { test: rank => isTrue[rank] === 1 };
        }
        case 'isUser': {
          const own = rankOf(condition.username);
          return { test: rank => rank === own };
        }
        default:
          return { ranks: ranksByField(served, condition) };
      }
    },
  };
}

function ranksByField<T extends object>(
  served: Served<T>,
  condition: FieldCondition<keyof T>,
): Uint32Array {
  const { field } = condition;
  if (condition.kind === 'present') {
    return served.ranksWith(field);
  }
  // A value with NUL matches none: the directory reads a value up to it only.
  if (condition.text.includes('\0')) {
    return new Uint32Array();
  }
  return condition.kind === 'substring'
    ? served.ranksContaining(field, condition.text)
    : served.ranksEqualTo(field, condition.text);
}
