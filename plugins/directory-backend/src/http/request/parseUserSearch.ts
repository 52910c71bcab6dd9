import {
  allOf,
  type PageRequest,
  publicKeyId,
  type UserCondition,
  type UserField,
  type UserPredicate,
  type UserSelection,
} from '@directory-gateway/directory-core';
import { InvalidRequestError, noSearchTerm } from '../response/apiErrors';
import type { ParameterErrors } from './ParameterErrors';
import { parseIsoTime } from './parseIsoTime';
import { PAGE_PARAMETERS, parseSearchPage } from './parsePage';
import { foldSearchText, parseText, readSearchText } from './parseText';

/** Terms that match as substrings, unless `__exact` is appended. */
export const SUBSTRING_TERMS: Readonly<Record<string, UserField>> = {
  username: 'username',
  ircnick: 'ircnicks',
  givenname: 'givenname',
  surname: 'surname',
  human_name: 'human_name',
};

/** Terms that always match exactly; `__exact` has no effect. */
export const EXACT_TERMS: Readonly<Record<string, UserField>> = {
  email: 'emails',
  github_username: 'github_username',
  gitlab_username: 'gitlab_username',
  rhbzemail: 'rhbzemail',
  website: 'websites',
  rssurl: 'rssurls',
};

/** Fields in which a text is searched. */
export const TEXT_FIELDS = {
  words: ['username', 'human_name', 'givenname', 'surname', 'ircnicks'],
  whole: [
    ...(['username', 'emails', 'rhbzemail'] as const),
    ...(['github_username', 'gitlab_username'] as const),
    ...(['websites', 'rssurls'] as const),
  ],
} as const;

/** Maximum number of different `group` terms. */
const MAX_GROUPS = 20;

const PARAMETERS: ReadonlySet<string> = new Set([
  ...[SUBSTRING_TERMS, EXACT_TERMS].flatMap(terms =>
    Object.keys(terms).flatMap(name => [name, `${name}__exact`]),
  ),
  'q',
  'similar',
  'key',
  'group',
  'creation__before',
  ...PAGE_PARAMETERS,
]);

/** A parsed user search. */
export interface UserSearch {
  readonly where: UserPredicate;
  readonly order: UserSelection['order'];
  readonly page: PageRequest;
}

/** The parts of a search that each dialect parses differently. */
export interface UserSearchRules {
  parsePage(query: URLSearchParams, errors: ParameterErrors): PageRequest;
  /** Exact terms whose names may have the suffix `__exact`. */
  readonly suffixedExactTerms: ReadonlySet<string>;
  /** Whether unknown parameters are ignored instead of rejected. */
  readonly ignoresUnknown: boolean;
  /** Whether `q` searches for a text, and `key` for a public key. */
  readonly hasExtensions: boolean;
  /** Whether `*` in a substring term matches users with any value. */
  readonly hasSubstringPresence: boolean;
  /** Returns the exclusive upper limit for `creation__before`. */
  before(time: Date): Date;
  /** Returns the error for a `creation__before` that is not a time. */
  invalidTime(text: string): string;
}

const contractRules: UserSearchRules = {
  parsePage: parseSearchPage,
  suffixedExactTerms: new Set(Object.keys(EXACT_TERMS)),
  ignoresUnknown: false,
  hasExtensions: true,
  hasSubstringPresence: true,
  before: time => time,
  invalidTime: () =>
    'Created before this date. Must be an ISO 8601 date or date-time.',
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
  rules: UserSearchRules = contractRules,
): UserSearch {
  const page = rules.parsePage(query, errors);
  if (!rules.ignoresUnknown) {
    rejectUnknown(query, PARAMETERS, errors);
  }
  const terms: UserPredicate[] = [
    ...Object.entries(SUBSTRING_TERMS).flatMap(([name, field]) => [
      ...readTerm<UserCondition>(query, name, text =>
        text === '*' && rules.hasSubstringPresence
          ? { kind: 'present', field }
          : {
              kind: 'substring',
              field,
              text: requireSubstring(name, text, errors),
            },
      ),
      ...readTerm<UserCondition>(query, `${name}__exact`, text =>
        exactTerm(field, text),
      ),
    ]),
    ...Object.entries(EXACT_TERMS).flatMap(([name, field]) =>
      [
        name,
        ...(rules.suffixedExactTerms.has(name) ? [`${name}__exact`] : []),
      ].flatMap(parameter =>
        readTerm<UserCondition>(query, parameter, text =>
          exactTerm(field, text),
        ),
      ),
    ),
    ...readGroups(query, errors).map(groupTerm),
    ...readTerm<UserCondition>(query, 'creation__before', text => {
      const time = parseIsoTime(text);
      if (!time) {
        errors.add('creation__before', rules.invalidTime(text));
      }
      return {
        kind: 'before',
        field: 'creation',
        time: rules.before(time ?? new Date(0)),
      };
    }),
  ];
  if (rules.hasExtensions) {
    terms.push(...readTerm(query, 'key', text => keyTerm(text, errors)));
  }
  const order = rules.hasExtensions
    ? parseText<UserField>(query, errors, TEXT_FIELDS)
    : undefined;
  if (terms.length === 0 && !order) {
    errors.reject(noSearchTerm());
  }
  return { where: allOf(...terms), order, page };
}

/** The term of a search parameter; none when it is blank or missing. */
export function readTerm<T>(
  query: URLSearchParams,
  parameter: string,
  toTerm: (text: string) => T,
): T[] {
  const text = readSearchText(query, parameter);
  return text === undefined ? [] : [toTerm(text)];
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

function exactTerm(field: UserField, text: string): UserCondition {
  return text === '*'
    ? { kind: 'present', field }
    : { kind: 'equals', field, text };
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

const MIN_SUBSTRING = 3;

/** Rejects a substring term of fewer than 3 code points; returns its text. */
export function requireSubstring(
  term: string,
  text: string,
  errors: ParameterErrors,
): string {
  if ([...text].length < MIN_SUBSTRING) {
    errors.reject(
      new InvalidRequestError({
        message: `Search term must be at least ${MIN_SUBSTRING} characters long.`,
        search_term: term,
        search_value: text,
      }),
    );
  }
  return text;
}

/** Adds an error for each unknown parameter of a search. */
export function rejectUnknown(
  query: URLSearchParams,
  known: ReadonlySet<string>,
  errors: ParameterErrors,
): void {
  for (const name of query.keys()) {
    if (!known.has(name)) {
      errors.add(name, 'Unknown search parameter.');
    }
  }
}
