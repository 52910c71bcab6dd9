import { type Counter, metrics } from '@opentelemetry/api';
import type { Entry, Filter } from 'ldapts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isGroupName, isUserName } from '../directory/names';
import {
  type Group,
  type User,
  emptyGroup,
  emptyUser,
} from '../directory/records';
import {
  type DirectorySchema,
  type FieldDefinition,
  type FieldSyntax,
  groupFieldNames,
  userFieldNames,
} from '../directory/schema';
import type {
  UserAccount,
  AgreementEntry,
  UserEntry,
  GroupEntry,
  ReplicaBatch,
  SearchOnlyValues,
} from '../replica/sync/ReplicaSource';
import {
  type Containers,
  type DistinguishedName,
  normalizeDn,
} from './connection/DistinguishedName';
import { booleanOf, buffersOf, textOf, textsOf, timeOf } from './entryValues';
import { any, isA, isPresent } from './connection/filters';
import { accessFlags } from './AccessVerifier';

/** A few milliseconds of the event loop each. */
const ENTRIES_AT_A_TIME = 50;

/** Of groups with all their members, one may be as large as many others. */
const GROUPS_AT_A_TIME = 2;

/** Attributes that callers are verified by. */
const KERBEROS_ATTRIBUTES = ['krbPrincipalName', 'krbPrincipalExpiration'];

/**
 * Classes that allow these. Of other entries, 389 Directory Server does not
 * return the rights on them.
 */
const KERBEROS_CLASSES = ['krbPrincipalAux', 'krbPrincipal'];

/** DNs that are normalized before yielding to the event loop. */
const DNS_PER_SLICE = 5000;

type PortionOf<K extends ReplicaBatch['kind']> = Extract<
  ReplicaBatch,
  { readonly kind: K }
>;

/** Entries with their keys. */
type Named = readonly (readonly [key: string, entry: Entry])[];

/** One kind of entry that is copied. */
export interface Copied<P extends ReplicaBatch> {
  readonly container: DistinguishedName;
  /** Those that are copied; others that were changed are looked at, too. */
  readonly filter: Filter;
  readonly attributes: readonly string[];
  readonly pageSize: number;
  /** Attributes that an entry must not seem to lack because they are hidden. */
  readonly vital: (entry: Entry) => readonly string[];
  readonly decode: (entries: Named) => P | Promise<P>;
}

/** Which entries are copied, and what of them. */
export function entryKinds({
  schema,
  containers,
}: {
  readonly schema: DirectorySchema;
  readonly containers: Containers;
}) {
  const unnamed = metrics
    .getMeter('directory')
    .createCounter('directory.entries.unnamed', {
      description: 'Entries that are not served because of their name',
    });
  const vitalOfUsers = [...new Set([...accessFlags(schema), 'nsAccountLock'])];
  const users: Copied<PortionOf<'users'>> = {
    container: containers.users,
    filter: isA(schema.userClass),
    attributes: [
      ...new Set([
        ...['objectClass', 'uid', 'nsAccountLock', ...KERBEROS_ATTRIBUTES],
        ...attributesOf(schema.users, userFieldNames),
      ]),
    ],
    pageSize: ENTRIES_AT_A_TIME,
    vital: entry =>
      KERBEROS_CLASSES.some(name => hasClass(entry, name))
        ? [...vitalOfUsers, ...KERBEROS_ATTRIBUTES]
        : vitalOfUsers,
    decode: named => ({
      kind: 'users',
      entries: named.map(([key, entry]) => [
        key,
        decodeUser(entry, {
          key,
          schema,
          container: containers.users,
          unnamed,
        }),
      ]),
    }),
  };
  const groups: Copied<PortionOf<'groups'>> = {
    container: containers.groups,
    filter: any([isA(schema.groupClass), isPresent('member')]),
    attributes: [
      ...['objectClass', 'member', 'memberManager'],
      ...attributesOf(schema.groups, groupFieldNames),
    ],
    pageSize: GROUPS_AT_A_TIME,
    vital: () => ['member'],
    decode: async named => ({
      kind: 'groups',
      entries: await decodeInTurn(named, entry =>
        decodeGroup(entry, { schema, unnamed }),
      ),
    }),
  };
  const agreements: Copied<PortionOf<'agreements'>> = {
    container: containers.agreements,
    filter: isA('fasAgreement'),
    attributes: ['objectClass', 'cn', 'ipaEnabledFlag', 'memberUser'],
    pageSize: ENTRIES_AT_A_TIME,
    vital: () => [],
    decode: async named => ({
      kind: 'agreements',
      entries: await decodeInTurn(named, async entry =>
        hasClass(entry, 'fasAgreement')
          ? await decodeAgreement(entry)
          : undefined,
      ),
    }),
  };
  return {
    users,
    groups,
    // Without freeipa-fas there is no such container.
    agreements: schema.hasAgreements ? agreements : undefined,
  };
}

/** One entry after the other, as each may be large. */
async function decodeInTurn<T>(
  named: Named,
  decode: (entry: Entry) => Promise<T>,
) {
  const decoded: (readonly [string, T])[] = [];
  for (const [key, entry] of named) {
    decoded.push([key, await decode(entry)]);
  }
  return decoded;
}

function decodeUser(
  entry: Entry,
  {
    key,
    schema,
    container,
    unnamed,
  }: {
    readonly key: string;
    readonly schema: DirectorySchema;
    readonly container: DistinguishedName;
    readonly unnamed: Counter;
  },
): UserEntry | undefined {
  if (!hasClass(entry, schema.userClass)) {
    return undefined;
  }
  const user = decodeRecord<User>(schema.users, entry, {
    fields: userFieldNames,
    empty: emptyUser(),
  });
  if (!isUserName(user.username ?? '')) {
    unnamed.add(1);
    return undefined;
  }
  return {
    user,
    searchOnly: searchOnlyValues<User>(schema.users, entry),
    account: decodeAccount(entry, {
      user,
      key,
      userKey: normalizeDn(
        `${schema.users.username.attribute}=${user.username},${container}`,
      ),
    }),
  };
}

/** As `LdapPrincipalLookup` does, whatever attributes are configured. */
function decodeAccount(
  entry: Entry,
  {
    user,
    key,
    userKey,
  }: {
    readonly user: User;
    readonly key: string;
    /** Key of the entry that a lookup by user name reads. */
    readonly userKey: string;
  },
): UserAccount {
  // With another attribute for user names, no lookup finds the account.
  const isFound = textOf(entry, 'uid') === user.username;
  return {
    principalNames: isFound ? textsOf(entry, 'krbPrincipalName') : [],
    expires: timeOf(entry, 'krbPrincipalExpiration'),
    locked: booleanOf(entry, 'nsAccountLock') ?? false,
    isFoundByUsername:
      isFound && key === userKey && hasClass(entry, 'posixAccount'),
  };
}

async function decodeGroup(
  entry: Entry,
  {
    schema,
    unnamed,
  }: { readonly schema: DirectorySchema; readonly unnamed: Counter },
): Promise<GroupEntry | undefined> {
  const group = decodeRecord<Group>(schema.groups, entry, {
    fields: groupFieldNames,
    empty: emptyGroup(),
  });
  const isGroup = hasClass(entry, schema.groupClass);
  const isServed = isGroup && isGroupName(group.groupname ?? '');
  if (isGroup && !isServed) {
    unnamed.add(1);
  }
  const members: string[] = [];
  await forEachDn(textsOf(entry, 'member'), dn => members.push(dn));
  return isServed || members.length > 0
    ? {
        ...(isServed && {
          group,
          searchOnly: searchOnlyValues<Group>(schema.groups, entry),
        }),
        members,
        sponsors: textsOf(entry, 'memberManager').map(normalizeDn),
      }
    : undefined;
}

/** Returns `undefined` for an agreement without a name. */
async function decodeAgreement(
  entry: Entry,
): Promise<AgreementEntry | undefined> {
  const name = textOf(entry, 'cn');
  if (name === undefined) {
    return undefined;
  }
  const enabled = booleanOf(entry, 'ipaEnabledFlag') ?? false;
  const signers = new Set<string>();
  // Groups that are linked to an agreement are in its `member`.
  await forEachDn(textsOf(entry, 'memberUser'), dn => signers.add(dn));
  return { name, enabled, signers };
}

/** Normalizes the DNs and yields to the event loop after every 5,000. */
async function forEachDn(
  dns: readonly string[],
  take: (normalized: string) => unknown,
): Promise<void> {
  for (const [index, dn] of dns.entries()) {
    take(normalizeDn(dn));
    if ((index + 1) % DNS_PER_SLICE === 0) {
      await nextTurn();
    }
  }
}

/** A search finds every value, a record shows the first of some fields. */
function searchOnlyValues<T>(
  fields: Readonly<Record<keyof T, FieldDefinition>>,
  entry: Entry,
): SearchOnlyValues<T> | undefined {
  const searchOnly: SearchOnlyValues<T> = {};
  for (const field of Object.keys(fields) as (keyof T)[]) {
    const { attribute, syntax } = fields[field];
    if (attribute !== undefined && syntax === 'string') {
      const [, ...further] = textsOf(entry, attribute);
      if (further.length > 0) {
        searchOnly[field] = further;
      }
    }
  }
  return Object.keys(searchOnly).length > 0 ? searchOnly : undefined;
}

function hasClass(entry: Entry, objectClass: string): boolean {
  return textsOf(entry, 'objectClass').some(
    name => name.toLowerCase() === objectClass.toLowerCase(),
  );
}

type Fields<F extends string> = Readonly<Record<F, FieldDefinition>>;

const readers: Record<
  FieldSyntax,
  (entry: Entry, attribute: string) => unknown
> = {
  string: textOf,
  strings: (entry, attribute) => nonEmpty(textsOf(entry, attribute)),
  boolean: booleanOf,
  timestamp: timeOf,
  certificates: (entry, attribute) => nonEmpty(buffersOf(entry, attribute)),
};

/** The attributes that a search must ask for to answer these fields. */
export function attributesOf<F extends string>(
  table: Fields<F>,
  fields: Iterable<F>,
): string[] {
  const attributes = [...fields].map(field => table[field].attribute);
  return [...new Set(attributes.filter(name => name !== undefined))];
}

/** An entry as a record: of these fields it has the values, and no others'. */
export function decodeRecord<R extends object, F extends string = string>(
  table: Fields<F>,
  entry: Entry,
  {
    fields,
    empty,
  }: {
    readonly fields: Iterable<F>;
    /** What the record begins as; see `emptyUser`. */
    readonly empty: Record<F, undefined>;
  },
): R {
  const record: Record<F, unknown> = empty;
  for (const field of fields) {
    const { attribute, syntax } = table[field];
    if (attribute) {
      record[field] = readers[syntax](entry, attribute);
    }
  }
  return record as R;
}

function nonEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length > 0 ? values : undefined;
}
