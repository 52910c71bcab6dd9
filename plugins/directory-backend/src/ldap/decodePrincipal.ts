import type { Entry } from 'ldapts';
import type { Principal } from '../directory/Principal';
import { isUserName } from '../directory/names';
import type { DirectorySchema } from '../directory/schema';
import type { Containers } from './containers';
import { isBelow, rdnValueOf } from './DistinguishedName';
import {
  booleanOf,
  requiredTextOf,
  textOf,
  textsOf,
  timeOf,
} from './entryValues';

/** The attributes that say who a principal is and whether it may call. */
export const principalAttributes = [
  'objectClass',
  'uid',
  'krbPrincipalName',
  'krbCanonicalName',
  'krbPrincipalExpiration',
  'mail',
  'nsAccountLock',
  'memberOf',
] as const;

/** An entry below the accounts container as somebody who calls. */
export function decodePrincipal(
  schema: DirectorySchema,
  containers: Containers,
  entry: Entry,
): Principal {
  const isUser = isBelow(entry.dn, containers.users);
  const username = isUser ? requiredTextOf(entry, 'uid') : undefined;
  const service = isUser ? undefined : serviceNameOf(entry);
  return {
    dn: entry.dn,
    kind: kindOf(isUser, service),
    username,
    service,
    served:
      username !== undefined &&
      isUserName(username) &&
      hasClass(entry, schema.userClass),
    principalNames: textsOf(entry, 'krbPrincipalName'),
    canonicalName:
      textOf(entry, 'krbCanonicalName') ?? textOf(entry, 'krbPrincipalName'),
    emails: textsOf(entry, 'mail'),
    locked: booleanOf(entry, 'nsAccountLock') ?? false,
    expires: timeOf(entry, 'krbPrincipalExpiration'),
    groups: groupsOf(entry, containers),
  };
}

function kindOf(
  isUser: boolean,
  service: string | undefined,
): Principal['kind'] {
  if (isUser) {
    return 'user';
  }
  return service?.startsWith('host/') ? 'host' : 'service';
}

/** The canonical name rather than an alias, without `@REALM`. */
function serviceNameOf(entry: Entry): string {
  const name =
    textOf(entry, 'krbCanonicalName') ??
    requiredTextOf(entry, 'krbPrincipalName');
  return name.replace(/@[^@]*$/, '');
}

function hasClass(entry: Entry, objectClass: string): boolean {
  return textsOf(entry, 'objectClass').some(
    name => name.toLowerCase() === objectClass.toLowerCase(),
  );
}

/** `memberOf` also names roles and agreements; only groups count here. */
function groupsOf(entry: Entry, containers: Containers): ReadonlySet<string> {
  return new Set(
    textsOf(entry, 'memberOf')
      .filter(dn => isBelow(dn, containers.groups))
      .map(dn => rdnValueOf(dn)?.toLowerCase())
      .filter(name => name !== undefined),
  );
}
