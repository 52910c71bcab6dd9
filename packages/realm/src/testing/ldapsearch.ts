import { type LdifEntry, normalizeDn } from '../ldif/LdifEntry';
import { parseLdif } from '../ldif/ldif';
import { ProcessOwner } from '../processes/ProcessOwner';
import type { Realm } from '../Realm';

/** Who asks: nobody, a ticket's holder, or a DN with the file of its password. */
export type Asker =
  | 'anonymous'
  | { ticketOf: string }
  | { dn: string; passwordFile: string };

export interface Search {
  as: Asker;
  filter?: string;
  base?: string;
  attributes?: readonly string[];
  /** Further arguments. */
  options?: readonly string[];
}

const programs = new ProcessOwner();

/** Searches the realm's directory with OpenLDAP's own tool. */
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

function bindArguments(as: Asker): string[] {
  if (as === 'anonymous') {
    return ['-x'];
  }
  return 'dn' in as
    ? ['-x', '-D', as.dn, '-y', as.passwordFile]
    : ['-N', '-Q', '-Y', 'GSSAPI'];
}

/** `memberOf` of every entry, as comparable keys. */
export async function memberships(
  realm: Realm,
): Promise<Record<string, string[]>> {
  const entries = await ldapsearch(realm, {
    as: { dn: realm.rootDn, passwordFile: realm.rootPasswordFile },
    attributes: ['memberOf'],
  });
  return Object.fromEntries(
    entries.map(entry => [
      normalizeDn(entry.dn),
      entry.texts('memberOf').map(normalizeDn).sort(),
    ]),
  );
}

/** Lets the memberOf plug-in compute everything anew and waits for it. */
export async function repairMemberships(realm: Realm): Promise<void> {
  const dn = 'cn=repair,cn=memberOf task,cn=tasks,cn=config';
  await realm.modify(
    `dn: ${dn}
changetype: add
objectClass: top
objectClass: extensibleObject
cn: repair
basedn: ${realm.baseDn}
filter: (objectClass=*)
`,
  );
  for (;;) {
    const [task] = await ldapsearch(realm, {
      as: { dn: realm.rootDn, passwordFile: realm.rootPasswordFile },
      base: dn,
      attributes: ['nsTaskExitCode'],
    });
    const [code] = task.texts('nsTaskExitCode');
    if (code !== undefined) {
      expect(code).toBe('0');
      return;
    }
  }
}
