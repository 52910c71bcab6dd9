import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import {
  type FieldCondition,
  type GroupCondition,
  type GroupPredicate,
  type UserCondition,
  type UserPredicate,
  visitPredicate,
} from '../../directory/predicates';
import { isSameKey, publicKeyId } from '../../directory/publicKeys';
import type { GroupField, UserField } from '../../directory/schema';
import { GROUP_ATTRIBUTES, naiveTime } from './naiveRecords';
import type { DumpedEntry } from './DumpedEntry';
import { lowerCaseLetters } from '../../replica/tables/foldText';
import { areSimilar } from '../../replica/tables/WordColumn';

/** Determines what a viewer may see of private profiles. */
export type Viewer =
  /** Private profiles hide nothing. */
  | { readonly kind: 'everything' }
  /** Private profiles, except the viewer's own, hide these fields. */
  | {
      readonly kind: 'public';
      readonly hidden: ReadonlySet<UserField>;
      /** User name of the viewer. */
      readonly owner?: string;
    };

/** Options for evaluating a predicate for one user. */
export interface NaiveSearchOptions {
  readonly viewer: Viewer;
  readonly attributes: Partial<Record<UserField, string>>;
  /**
   * Returns the names of the served groups that the user is in, in lower case.
   */
  readonly groups: () => readonly string[];
}

/** Characters that 389 Directory Server treats as spaces. */
const SPACE = /[\t-\r \u2000-\u200a\u3000\ufeff]/;
const SPACES_AT_ENDS = RegExp(`^${SPACE.source}+|${SPACE.source}+$`, 'g');

const everyOf = (parts: readonly boolean[]) => parts.every(Boolean);
const someOf = (parts: readonly boolean[]) => parts.some(Boolean);
const isFalse = (part: boolean) => !part;

/** Returns whether a predicate applies to a user. */
export function userApplies(
  entry: DumpedEntry,
  where: UserPredicate,
  options: NaiveSearchOptions,
): boolean {
  return visitPredicate<UserCondition, boolean>(where, {
    condition: condition => conditionApplies(entry, condition, options),
    allOf: everyOf,
    anyOf: someOf,
    not: isFalse,
  });
}

/** Returns whether a predicate applies to a group. */
export function groupApplies(
  entry: DumpedEntry,
  where: GroupPredicate,
  /** Returns the names of the served members or sponsors, in lower case. */
  namesOf: (kind: 'hasMember' | 'hasSponsor') => readonly string[],
): boolean {
  return visitPredicate<GroupCondition, boolean>(where, {
    condition: condition =>
      condition.kind === 'hasMember' || condition.kind === 'hasSponsor'
        ? namesOf(condition.kind).includes(condition.username.toLowerCase())
        : entry
            .texts(GROUP_ATTRIBUTES[condition.field])
            .some(value => textApplies(value, condition)),
    allOf: everyOf,
    anyOf: someOf,
    not: isFalse,
  });
}

function conditionApplies(
  entry: DumpedEntry,
  condition: UserCondition,
  { viewer, attributes, groups }: NaiveSearchOptions,
): boolean {
  switch (condition.kind) {
    case 'memberOfAny':
      return groups().length > 0;
    case 'memberOf':
      return groups().includes(condition.groupname.toLowerCase());
    case 'isUser':
      return entry.text('uid') === condition.username;
    default:
  }
  const attribute = attributes[condition.field];
  if (attribute === undefined || isHidden(entry, condition.field, viewer)) {
    return false;
  }
  return entry.texts(attribute).some(value => {
    switch (condition.kind) {
      case 'isTrue':
        return value.toUpperCase() === 'TRUE';
      case 'before':
        return naiveTime(value) < condition.time.getTime();
      default:
        return textApplies(value, condition);
    }
  });
}

function textApplies(
  value: string,
  condition: FieldCondition<UserField | GroupField>,
): boolean {
  switch (condition.kind) {
    case 'present':
      return true;
    case 'equals':
      return isEqual(value, condition.text);
    case 'wordPrefix':
      return foldWords(value).some(word => word.startsWith(condition.word));
    case 'wordPart':
      return foldWords(value).some(word => word.includes(condition.word));
    case 'similarWord':
      return foldWords(value).some(word => areSimilar(word, condition.word));
    case 'publicKey':
      return isSameKey(condition.id, publicKeyId(value));
    default:
      return isContained(value, condition.text);
  }
}

/** Returns whether a user hides a field from a viewer. */
export function isHidden(
  entry: DumpedEntry,
  field: UserField,
  viewer: Viewer,
): boolean {
  return (
    viewer.kind === 'public' &&
    viewer.hidden.has(field) &&
    entry.text('fasIsPrivate')?.toUpperCase() === 'TRUE' &&
    entry.text('uid') !== viewer.owner
  );
}

/** Returns whether two values are equal, ignoring case and repeated spaces. */
export function isEqual(value: string, asserted: string): boolean {
  return trim(prepare(value)) === trim(prepare(asserted));
}

/**
 * Returns whether a value contains a text. Leading and trailing spaces of the
 * text are significant.
 */
export function isContained(value: string, asserted: string): boolean {
  return trim(prepare(value)).includes(prepare(asserted));
}

function prepare(text: string): string {
  const kept: string[] = [];
  for (const character of text) {
    const inRow = SPACE.test(character) && SPACE.test(kept.at(-1) ?? '');
    if (!inRow) {
      kept.push(lowerCaseLetters.get(character) ?? character);
    }
  }
  return kept.join('');
}

function trim(prepared: string): string {
  return prepared.replace(SPACES_AT_ENDS, '');
}
