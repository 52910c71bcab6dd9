import type { Entry } from 'ldapts';
import type { DirectorySchema } from '@directory-gateway/directory-core';
import {
  containersBelow,
  type DistinguishedName,
} from './connection/DistinguishedName';
import { isA } from './connection/filters';
import type { LdapSearcher } from './connection/LdapPool';
import {
  GetEffectiveRightsControl,
  missingRights,
  rightsOf,
} from './effectiveRights';

interface ClassRequirement {
  readonly objectClass: string;
  readonly attributes: readonly string[];
}

/** Attributes that the service account must be able to read and search. */
export interface AccessRequirement extends ClassRequirement {
  readonly kind: 'users' | 'groups';
  readonly container: DistinguishedName;
  /** Verified instead while the object class has no entry. */
  readonly fallback: ClassRequirement;
}

/** Returns the user attributes on which privacy and locks depend. */
export function accessFlags({ users }: DirectorySchema): readonly string[] {
  return [users.is_private.attribute, users.locked.attribute].filter(
    attribute => attribute !== undefined,
  );
}

/** Returns the attributes without which nothing is served. */
export function accessRequirements(
  schema: DirectorySchema,
  baseDn: string,
): readonly AccessRequirement[] {
  const { users, groups } = containersBelow(baseDn);
  const locked = schema.users.locked.attribute;
  const accountAttributes = [
    'krbPrincipalName',
    'krbPrincipalExpiration',
    'memberOf',
    ...(locked ? [locked] : []),
  ];
  const attributes = ['member'];
  return [
    {
      kind: 'users',
      container: users,
      objectClass: schema.userClass,
      attributes: [...new Set([...accessFlags(schema), ...accountAttributes])],
      // Every FreeIPA server has the user `admin` and some groups.
      fallback: { objectClass: 'posixAccount', attributes: accountAttributes },
    },
    {
      kind: 'groups',
      container: groups,
      objectClass: schema.groupClass,
      attributes,
      fallback: { objectClass: 'ipaUserGroup', attributes },
    },
  ];
}

/** Reads the rights of the service account. */
interface RightsReader {
  readonly searcher: Pick<LdapSearcher, 'search'>;
  /** DN of the service account. */
  readonly bindDn: string;
}

/** Returns the missing rights, and the object class if it has no entry. */
export async function readMissingRights(
  reader: RightsReader,
  {
    container,
    objectClass,
    attributes,
    fallback,
  }: Omit<AccessRequirement, 'kind'>,
): Promise<{
  readonly missing: readonly string[];
  readonly absentClass?: string;
}> {
  const entry = await findOne(reader, container, { objectClass, attributes });
  if (entry) {
    return { missing: missingRights(entry, attributes) };
  }
  return {
    missing: missingRights(
      await findOne(reader, container, fallback),
      fallback.attributes,
    ),
    absentClass: objectClass,
  };
}

/** Number of entries that represent a class. */
const SAMPLE = 10;

/**
 * Returns the attributes that the account may not read and search in entries of
 * a class. Checks each attribute in an entry whose classes allow it: those of
 * FreeIPA's user `admin` do not allow `mail`, for example.
 */
export async function readUnreadableAttributes(
  reader: RightsReader,
  container: DistinguishedName,
  { objectClass, attributes }: ClassRequirement,
): Promise<readonly string[]> {
  const entries = await find(reader, container, {
    objectClass,
    // With `*`, the server omits attributes that the classes do not allow, for
    // which it otherwise reports that the account has no rights.
    attributes: ['*', ...attributes],
    sizeLimit: SAMPLE,
  });
  return attributes.filter(name => {
    const entry = entries.find(one => rightsOf(one).has(name.toLowerCase()));
    return entry && missingRights(entry, [name]).length > 0;
  });
}

/** Returns entries of a class with the rights of the service account. */
async function find(
  { searcher, bindDn }: RightsReader,
  container: DistinguishedName,
  query: ClassRequirement & { readonly sizeLimit: number },
): Promise<readonly Entry[]> {
  const { objectClass, attributes, sizeLimit } = query;
  const { entries } = await searcher.search({
    base: container,
    scope: 'one',
    filter: isA(objectClass),
    attributes,
    sizeLimit,
    control: new GetEffectiveRightsControl(bindDn),
  });
  return entries;
}

async function findOne(
  reader: RightsReader,
  container: DistinguishedName,
  requirement: ClassRequirement,
): Promise<Entry | undefined> {
  return (await find(reader, container, { ...requirement, sizeLimit: 1 }))[0];
}
