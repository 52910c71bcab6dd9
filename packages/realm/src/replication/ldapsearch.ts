import type { LdifEntry } from '../ldif/LdifEntry';
import { parseLdif } from '../ldif/ldif';
import { ProcessOwner } from '../processes/ProcessOwner';
import type { Realm } from '../Realm';

/** Identity for the bind: anonymous, the owner of a ticket, or a DN. */
export type BindIdentity =
  'anonymous' | { ticketOf: string } | { dn: string; passwordFile: string };

interface Search {
  as: BindIdentity;
  filter?: string;
  base?: string;
  attributes?: readonly string[];
  /** Additional arguments. */
  options?: readonly string[];
}

const programs = new ProcessOwner();

/** Searches the realm's directory with OpenLDAP's `ldapsearch`. */
export async function ldapsearch(
  realm: Realm,
  search: Search,
): Promise<LdifEntry[]> {
  const {
    as,
    filter = '(objectClass=*)',
    attributes = [],
    options = [],
  } = search;
  const url = realm.ldapUrl.replace('127.0.0.1', 'localhost');
  const output = await programs.run({
    program: 'ldapsearch',
    args: [
      ...['-LLL', '-o', 'ldif-wrap=no', '-H', url],
      ...bindArguments(as),
      ...['-b', search.base ?? realm.baseDn],
      ...options,
      filter,
      ...attributes,
    ],
    env: {
      ...realm.env,
      ...(typeof as === 'object' &&
        'ticketOf' in as && { KRB5CCNAME: await realm.ticket(as.ticketOf) }),
    },
  });
  return parseLdif(output);
}

function bindArguments(as: BindIdentity): string[] {
  if (as === 'anonymous') {
    return ['-x'];
  }
  return 'dn' in as
    ? ['-x', '-D', as.dn, '-y', as.passwordFile]
    : ['-N', '-Q', '-Y', 'GSSAPI'];
}
