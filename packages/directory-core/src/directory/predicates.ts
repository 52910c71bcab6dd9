import type { GroupField, UserField } from './schema';

/**
 * A Boolean combination of conditions. `allOf` without conditions matches every
 * record, `anyOf` without conditions does not match any.
 */
export type Predicate<Condition> = Condition | Combination<Condition>;

type Combination<Condition> =
  | {
      readonly kind: 'allOf' | 'anyOf';
      readonly of: readonly Predicate<Condition>[];
    }
  | { readonly kind: 'not'; readonly of: Predicate<Condition> };

/**
 * A condition on the values of one field, which are compared as the directory
 * compares them. Texts have no leading or trailing spaces.
 */
export type FieldCondition<Field> =
  /** The field has any value. */
  | { readonly kind: 'present'; readonly field: Field }
  /** One of the values contains the text, or equals it. */
  | {
      readonly kind: 'substring' | 'equals';
      readonly field: Field;
      readonly text: string;
    }
  /**
   * A word of one of the values begins with this one, contains it, or differs
   * by at most one letter. Words are compared without accents, case and
   * punctuation.
   */
  | {
      readonly kind: 'wordPrefix' | 'wordPart' | 'similarWord';
      readonly field: Field;
      /** As `foldWords` returns it. */
      readonly word: string;
    }
  /** One of the values is this public key. */
  | {
      readonly kind: 'publicKey';
      readonly field: Field;
      /** As `publicKeyId` returns it for the value or its fingerprint. */
      readonly id: string;
    };

/** A condition on a user. */
export type UserCondition =
  | FieldCondition<UserField>
  /** The value is strictly before the time, compared to the second. */
  | {
      readonly kind: 'before';
      readonly field: UserField;
      readonly time: Date;
    }
  /** The value is `TRUE`. */
  | { readonly kind: 'isTrue'; readonly field: UserField }
  /** The user has this name, in the directory's spelling. */
  | { readonly kind: 'isUser'; readonly username: string }
  /** The user is in the served group of this name, nested groups included. */
  | { readonly kind: 'memberOf'; readonly groupname: string }
  /** The user is in at least one served group. */
  | { readonly kind: 'memberOfAny' };

/** A condition on a group. */
export type GroupCondition =
  | FieldCondition<GroupField>
  /** The user is in the group, directly or through other groups. */
  | { readonly kind: 'hasMember'; readonly username: string }
  /** The user sponsors the group, or is in a group that does. */
  | { readonly kind: 'hasSponsor'; readonly username: string };

/** Selects users. */
export type UserPredicate = Predicate<UserCondition>;

/** Selects groups. */
export type GroupPredicate = Predicate<GroupCondition>;

/** Matches when all predicates match. */
export function allOf<Condition>(
  ...of: readonly Predicate<Condition>[]
): Predicate<Condition> {
  return { kind: 'allOf', of };
}

/** Matches when at least one predicate matches. */
export function anyOf<Condition>(
  ...of: readonly Predicate<Condition>[]
): Predicate<Condition> {
  return { kind: 'anyOf', of };
}

/** Matches when a predicate does not match. */
export function not<Condition>(of: Predicate<Condition>): Predicate<Condition> {
  return { kind: 'not', of };
}

/** Combines the results of a predicate's parts into one. */
export function visitPredicate<
  Condition extends { readonly kind: string },
  Result,
>(
  predicate: Predicate<Condition>,
  visitor: {
    readonly condition: (condition: Condition) => Result;
    readonly allOf: (parts: readonly Result[]) => Result;
    readonly anyOf: (parts: readonly Result[]) => Result;
    readonly not: (part: Result) => Result;
  },
): Result {
  const visit = (part: Predicate<Condition>) => visitPredicate(part, visitor);
  if (isCombination(predicate)) {
    return predicate.kind === 'not'
      ? visitor.not(visit(predicate.of))
      : visitor[predicate.kind](predicate.of.map(visit));
  }
  return visitor.condition(predicate as Condition);
}

function isCombination<Condition>(
  predicate: Predicate<Condition>,
): predicate is Combination<Condition> {
  const { kind } = predicate as Combination<Condition>;
  return kind === 'allOf' || kind === 'anyOf' || kind === 'not';
}
