import { run } from '../processes';
import type { Realm } from '../startRealm';

/** Identity: anonymous, a Kerberos principal, or a DN with a password. */
export type Searcher =
  'anonymous' | { ticketOf: string } | { dn: string; passwordFile: string };

/** Values of an entry by attribute; `dn` is one of them. */
export type FoundEntry = Readonly<Record<string, readonly string[]>>;

/** Searches a realm's directory with OpenLDAP's `ldapsearch`. */
export async function ldapsearch(
  realm: Realm,
  search: {
    as: Searcher;
    base?: string;
    scope?: 'base' | 'sub';
    filter?: string;
    attributes?: readonly string[];
  },
): Promise<FoundEntry[]> {
  const { as, base = realm.baseDn, scope = 'sub' } = search;
  const { filter = '(objectClass=*)', attributes = [] } = search;
  const output = await run({
    program: 'ldapsearch',
    args: [
      ...[
        '-LLL',
        '-o',
        'ldif-wrap=no',
        '-H',
        realm.ldapUrl,
        ...bindArguments(as),
      ],
      ...['-b', base, '-s', scope, filter, ...attributes],
    ],
    env: {
      ...realm.env,
      ...(typeof as === 'object' &&
        'ticketOf' in as && { KRB5CCNAME: await realm.ticket(as.ticketOf) }),
    },
  });
  return output.trim() === '' ? [] : output.trim().split('\n\n').map(parse);
}

/** Identity of the directory's administrator. */
export function root(realm: Realm): Searcher {
  return { dn: realm.rootDn, passwordFile: realm.rootPasswordFile };
}

/** Identity of the gateway's service account. */
export function portal(realm: Realm): Searcher {
  return { dn: realm.bindDn, passwordFile: realm.bindPasswordFile };
}

function bindArguments(as: Searcher): string[] {
  if (as === 'anonymous') {
    return ['-x'];
  }
  return 'dn' in as
    ? ['-x', '-D', as.dn, '-y', as.passwordFile]
    : ['-N', '-Q', '-Y', 'GSSAPI'];
}

function parse(record: string): FoundEntry {
  const entry: Record<string, string[]> = {};
  for (const line of record.split('\n')) {
    const [, name, base64, value] = /^(.*?):(:?) ?(.*)$/.exec(line)!;
    entry[name] ??= [];
    entry[name].push(base64 ? Buffer.from(value, 'base64').toString() : value);
  }
  return entry;
}
