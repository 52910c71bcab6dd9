import { type Counter, metrics } from '@opentelemetry/api';
import { type Entry, type Filter, OrFilter } from 'ldapts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  type AgreementEntry,
  type DirectorySchema,
  emptyGroup,
  emptyUser,
  type FieldDefinition,
  type FieldSyntax,
  type Group,
  type GroupEntry,
  isGroupName,
  isUserName,
  type ReadEntry,
  type ReplicaBatch,
  type ReplicaKind,
  type SearchOnlyValues,
  type User,
  type UserEntry,
} from '@directory-gateway/directory-core';
import { accessFlags } from './accessRequirements';
import {
  type Containers,
  type DistinguishedName,
  normalizeDn,
} from './connection/DistinguishedName';
import { isA, isPresent } from './connection/filters';
import {
  booleanOf,
  buffersOf,
  hasClass,
  textOf,
  textsOf,
  timeOf,
  valuesOf,
} from './entryValues';

/** Entries per page; a page takes a few milliseconds of the event loop. */
const PAGE_SIZE = 50;

/**
 * Groups per page; a group with all its members may be as large as many other
 * entries.
 */
const GROUPS_PAGE_SIZE = 2;

/** Identifies an entry across renames. */
export const UNIQUE_ID = 'ipaUniqueID';

/** USN of the last write of an entry. */
export const USN = 'entryusn';

/** Groups that an entry is in, direct and nested ones. */
export const MEMBER_OF = 'memberOf';

/** Operational attribute, which must be requested by name. */
const CREATED_AT = 'createTimestamp';

/** Attributes by which callers are authenticated. */
const KERBEROS_ATTRIBUTES = ['krbPrincipalName', 'krbPrincipalExpiration'];

/**
 * Object classes that allow the Kerberos attributes. For entries of other
 * classes, 389 Directory Server does not return the rights on these attributes.
 */
const KERBEROS_CLASSES = ['krbPrincipalAux', 'krbPrincipal'];

/** Number of DNs to normalize before yielding to the event loop. */
const DNS_PER_SLICE = 5000;

type BatchOf<K extends ReplicaKind> = Extract<
  ReplicaBatch,
  { readonly kind: K }
>;

type DecodedOf<K extends ReplicaKind> = BatchOf<K>['entries'][number]['entry'];

/** Describes how the entries of one kind are read. */
export interface EntryKind<B extends ReplicaBatch = ReplicaBatch> {
  readonly container: DistinguishedName;
  /** Matches the entries that may be replicated. */
  readonly filter: Filter;
  readonly attributes: readonly string[];
  readonly pageSize: number;
  /** Attributes that the account must be able to read if an entry has them. */
  readonly requiredAttributes: (entry: Entry) => readonly string[];
  readonly decode: (entries: readonly Entry[]) => Promise<B>;
}

interface DecodeContext {
  readonly schema: DirectorySchema;
  readonly containers: Containers;
  /** Counts entries that are not served because their name is invalid. */
  readonly skipped: Counter;
}

/** Returns the descriptions of all kinds. */
export function entryKinds(options: {
  readonly schema: DirectorySchema;
  readonly containers: Containers;
}): {
  readonly users: EntryKind<BatchOf<'users'>>;
  readonly groups: EntryKind<BatchOf<'groups'>>;
  /** Only with freeipa-fas. */
  readonly agreements?: EntryKind<BatchOf<'agreements'>>;
} {
  const { schema, containers } = options;
  const context: DecodeContext = {
    ...options,
    skipped: metrics
      .getMeter('directory')
      .createCounter('directory.replica.entries.skipped', {
        description:
          'Entries that are not served because their name is invalid',
      }),
  };
  const flags = new Set([...accessFlags(schema), 'nsAccountLock']);
  return {
    users: kindOf('users', {
      container: containers.users,
      filter: isA(schema.userClass),
      attributes: [
        'uid',
        'nsAccountLock',
        ...KERBEROS_ATTRIBUTES,
        ...attributesOf(schema.users),
      ],
      pageSize: PAGE_SIZE,
      requiredAttributes: entry =>
        KERBEROS_CLASSES.some(name => hasClass(entry, name))
          ? [...flags, ...KERBEROS_ATTRIBUTES]
          : [...flags],
      decodeOne: entry => decodeUser(entry, context),
    }),
    groups: kindOf('groups', {
      container: containers.groups,
      filter: new OrFilter({
        filters: [isA(schema.groupClass), isPresent('member')],
      }),
      attributes: ['member', 'memberManager', ...attributesOf(schema.groups)],
      pageSize: GROUPS_PAGE_SIZE,
      requiredAttributes: () => ['member'],
      decodeOne: entry => decodeGroup(entry, context),
    }),
    agreements: schema.hasAgreements
      ? kindOf('agreements', {
          container: containers.agreements,
          filter: isA('fasAgreement'),
          attributes: ['cn', 'ipaEnabledFlag', 'memberUser'],
          pageSize: PAGE_SIZE,
          requiredAttributes: () => [],
          decodeOne: decodeAgreement,
        })
      : undefined,
  };
}

/** Completes the description of a kind. */
function kindOf<K extends ReplicaKind>(
  kind: K,
  options: Omit<EntryKind, 'decode'> & {
    /** Decodes an entry; `undefined` if it is not replicated. */
    readonly decodeOne: (entry: Entry) => DecodedOf<K> | Promise<DecodedOf<K>>;
  },
): EntryKind<BatchOf<K>> {
  const { decodeOne, attributes, ...others } = options;
  const common = ['objectClass', UNIQUE_ID, CREATED_AT];
  return {
    ...others,
    attributes: [...new Set([...common, ...attributes])],
    decode: async page => {
      const entries: ReadEntry[] = [];
      // One after another, because each may be large.
      for (const entry of page) {
        const groups = textsOf(entry, MEMBER_OF);
        entries.push({
          id: idOf(entry),
          key: normalizeDn(entry.dn),
          entry: await decodeOne(entry),
          createdAt: timeOf(entry, CREATED_AT),
          ...(groups.length > 0 && {
            memberOf: new Set(groups.map(normalizeDn)),
          }),
        });
      }
      return { kind, entries } as ReplicaBatch as BatchOf<K>;
    },
  };
}

/** Returns the stable ID of an entry; the normalized DN if it is unreadable. */
export function idOf(entry: Entry): string {
  return textOf(entry, UNIQUE_ID) ?? normalizeDn(entry.dn);
}

function decodeUser(
  entry: Entry,
  { schema, containers, skipped }: DecodeContext,
): UserEntry | undefined {
  if (!hasClass(entry, schema.userClass)) {
    return undefined;
  }
  const user: User = decodeRecord(entry, schema.users, emptyUser());
  if (!isUserName(user.username ?? '')) {
    skipped.add(1);
    return undefined;
  }
  // Same rules as in `LdapPrincipalLookup`.
  const isUid = textOf(entry, 'uid') === user.username;
  const keyOfUsername = normalizeDn(
    `${schema.users.username.attribute}=${user.username},${containers.users}`,
  );
  return {
    user,
    searchOnly: searchOnlyValues<User>(entry, schema.users),
    uniqueId: textOf(entry, UNIQUE_ID),
    account: {
      principalNames: isUid ? textsOf(entry, 'krbPrincipalName') : [],
      expires: timeOf(entry, 'krbPrincipalExpiration'),
      locked: booleanOf(entry, 'nsAccountLock') ?? false,
      isFoundByUsername:
        isUid &&
        normalizeDn(entry.dn) === keyOfUsername &&
        hasClass(entry, 'posixAccount'),
    },
  };
}

async function decodeGroup(
  entry: Entry,
  { schema, skipped }: DecodeContext,
): Promise<GroupEntry | undefined> {
  const group: Group = decodeRecord(entry, schema.groups, emptyGroup());
  const isGroup = hasClass(entry, schema.groupClass);
  const isServed = isGroup && isGroupName(group.groupname ?? '');
  if (isGroup && !isServed) {
    skipped.add(1);
  }
  const members = await normalizedDnsOf(entry, 'member');
  if (!isServed && members.length === 0) {
    return undefined;
  }
  return {
    ...(isServed && {
      group,
      searchOnly: searchOnlyValues<Group>(entry, schema.groups),
    }),
    uniqueId: textOf(entry, UNIQUE_ID),
    members,
    sponsors: await normalizedDnsOf(entry, 'memberManager'),
  };
}

async function decodeAgreement(
  entry: Entry,
): Promise<AgreementEntry | undefined> {
  const name = textOf(entry, 'cn');
  if (name === undefined || !hasClass(entry, 'fasAgreement')) {
    return undefined;
  }
  return {
    name,
    enabled: booleanOf(entry, 'ipaEnabledFlag') ?? false,
    // `member` contains the groups of an agreement, not its signers.
    signers: new Set(await normalizedDnsOf(entry, 'memberUser')),
  };
}

/** Returns normalized DNs. Yields to the event loop after every 5,000 DNs. */
async function normalizedDnsOf(
  entry: Entry,
  attribute: string,
): Promise<readonly string[]> {
  const normalized: string[] = [];
  for (const [index, dn] of valuesOf(entry, attribute).entries()) {
    normalized.push(normalizeDn(dn.toString()));
    if ((index + 1) % DNS_PER_SLICE === 0) {
      await yieldToEventLoop();
    }
  }
  return normalized;
}

type Fields<R> = Readonly<Record<keyof R, FieldDefinition>>;

/** Returns all values except for the first of each single-valued field. */
function searchOnlyValues<R>(
  entry: Entry,
  fields: Fields<R>,
): SearchOnlyValues<R> | undefined {
  const searchOnly: SearchOnlyValues<R> = {};
  for (const field of Object.keys(fields) as (keyof R)[]) {
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

function attributesOf(
  fields: Readonly<Record<string, FieldDefinition>>,
): readonly string[] {
  return Object.values(fields).flatMap(({ attribute }) => attribute ?? []);
}

/**
 * Sets the fields of a record.
 *
 * @param record - a record from `emptyUser` or `emptyGroup`
 */
function decodeRecord<R extends object>(
  entry: Entry,
  fields: Fields<R>,
  record: Record<keyof R, unknown>,
): R {
  for (const field of Object.keys(fields) as (keyof R)[]) {
    const { attribute, syntax } = fields[field];
    if (attribute) {
      record[field] = readers[syntax](entry, attribute);
    }
  }
  return record as R;
}

function nonEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length > 0 ? values : undefined;
}
