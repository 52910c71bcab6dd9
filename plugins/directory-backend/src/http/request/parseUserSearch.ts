import {
  allOf,
  not,
  type PageRequest,
  publicKeyId,
  searchParameters,
  type TextFields,
  type UserCondition,
  type UserField,
  type UserPredicate,
  type UserSelection,
} from '@directory-gateway/directory-core';
import { noSearchTerm } from '../../apiErrors';
import type { ParameterErrors } from './ParameterErrors';
import { parseIsoTime } from './parseIsoTime';
import { parseSearchPage } from './parsePage';
import {
  exactTerms,
  foldSearchText,
  parseTerms,
  parseText,
  rejectUnknown,
  type SearchTerms,
  substringTerms,
} from './searchTerms';

/**
 * Terms that match as substrings, unless `__exact` is appended. An error reports
 * the first one that is too short, so the first three are in FASJSON's order.
 */
export const SUBSTRING_TERMS: Readonly<Record<string, UserField>> = {
  username: 'username',
  ircnick: 'ircnicks',
  givenname: 'givenname',
  ...searchParameters('substring'),
};

/** Terms that always match exactly; `__exact` has no effect. */
export const EXACT_TERMS = searchParameters('exact');

/** Fields in which a text is searched. */
export const TEXT_FIELDS: TextFields<UserField> = {
  words: Object.values(SUBSTRING_TERMS),
  whole: ['username', ...Object.values(EXACT_TERMS)],
};

/** Maximum number of different `group` terms. */
const MAX_GROUPS = 20;

/** A parsed user search. */
export interface UserSearch {
  readonly where: UserPredicate;
  readonly order: UserSelection['order'];
  readonly page: PageRequest;
}

/** The parts of a search that each dialect parses differently. */
export interface UserSearchRules {
  parsePage(query: URLSearchParams, errors: ParameterErrors): PageRequest;
  /** The terms except `group`, which can be repeated. */
  readonly terms: SearchTerms<UserPredicate>;
  /** Whether `q` searches for a text. Unknown parameters are then rejected. */
  readonly hasExtensions: boolean;
}

const contractRules: UserSearchRules = {
  parsePage: parseSearchPage,
  terms: {
    ...substringTerms<UserField>(SUBSTRING_TERMS),
    ...exactTerms<UserField>(EXACT_TERMS),
    ...exactTerms<UserField>(EXACT_TERMS, '__exact'),
    creation__before(text, errors) {
      const message =
        'Created before this date. Must be an ISO 8601 date or date-time.';
      return createdBefore(
        parseTime('creation__before', text, errors, message),
      );
    },
    creation__after(text, errors) {
      const message =
        'Created at or after this date. Must be an ISO 8601 date or date-time.';
      return createdSince(parseTime('creation__after', text, errors, message));
    },
    key: keyTerm,
  },
  hasExtensions: true,
};

/**
 * Parses the parameters of `/search/users/` (contract, section 4.3). Values are
 * trimmed and runs of white space folded; a blank value is not a term, except
 * that of `group`, which matches no users.
 *
 * Malformed parameters are reported first. Otherwise the search is rejected,
 * in this order, for a page size outside 1 to 40, a short term, and no term.
 * With `q`, users are ordered by how closely they match it.
 */
export function parseUserSearch(
  query: URLSearchParams,
  errors: ParameterErrors,
  { parsePage, terms, hasExtensions }: UserSearchRules = contractRules,
): UserSearch {
  const page = parsePage(query, errors);
  if (hasExtensions) {
    rejectUnknown(query, terms, ['group'], errors);
  }
  const conditions = [
    ...readGroups(query, errors).map(groupTerm),
    ...parseTerms(query, terms, errors),
  ];
  const order = hasExtensions
    ? parseText<UserField>(query, errors, TEXT_FIELDS)
    : undefined;
  if (conditions.length === 0 && !order) {
    errors.reject(noSearchTerm());
  }
  return { where: allOf(...conditions), order, page };
}

/** Finds users by a fingerprint of an SSH key, or by an OpenPGP key. */
function keyTerm(text: string, errors: ParameterErrors): UserPredicate {
  const id = publicKeyId(text);
  if (/^SHA256:[A-Za-z0-9+/]{43}$/.test(id)) {
    return { kind: 'publicKey', field: 'sshpubkeys', id };
  }
  if (!/^[0-9A-F]{16,64}$/.test(id)) {
    errors.add(
      'key',
      'Public key. Must be an SSH key fingerprint (SHA256:…), or an OpenPGP key ID or fingerprint of 16 to 64 hexadecimal digits.',
    );
  }
  return { kind: 'publicKey', field: 'gpgkeyids', id };
}

/** Parses the time in a parameter. */
export function parseTime(
  parameter: 'creation__before' | 'creation__after',
  text: string,
  errors: ParameterErrors,
  /** Error for a text that is not a time. */
  message: string,
): Date {
  const time = parseIsoTime(text);
  if (!time) {
    errors.add(parameter, message);
  }
  return time ?? new Date(0);
}

/** Finds users that were created before a time. */
export function createdBefore(time: Date): UserCondition {
  return { kind: 'before', field: 'creation', time };
}

/** Finds users that were created at a time or later. */
function createdSince(time: Date): UserPredicate {
  // Users without a time of creation are not found.
  return allOf<UserCondition>(
    { kind: 'present', field: 'creation' },
    not(createdBefore(time)),
  );
}

/**
 * Returns the different values of `group`. Group names contain ASCII letters
 * only, whose case the directory ignores.
 */
function readGroups(
  query: URLSearchParams,
  errors: ParameterErrors,
): readonly string[] {
  const names = new Map<string, string>();
  for (const name of query.getAll('group').map(foldSearchText)) {
    const key = name.replace(/[A-Z]/g, letter => letter.toLowerCase());
    if (!names.has(key)) {
      names.set(key, name);
    }
  }
  if (names.size > MAX_GROUPS) {
    errors.add(
      'group',
      `Group name. At most ${MAX_GROUPS} different names are allowed.`,
    );
  }
  return [...names.values()];
}

function groupTerm(text: string): UserCondition {
  return text === '*'
    ? { kind: 'memberOfAny' }
    : { kind: 'memberOf', groupname: text };
}
