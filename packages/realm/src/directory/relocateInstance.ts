import { normalizeDn } from '../ldif/normalizeDn';
import type { Account } from '../processes/Account';
import type { RealmLayout } from '../RealmLayout';
import { editDse, substitute } from './editDse';

/** Stands for the realm's folder in an instance that waits to be copied. */
const NOWHERE = '/nowhere';

/** Takes this folder out of the configuration, so that a copy can have another. */
export async function unplaceInstance(layout: RealmLayout): Promise<void> {
  await editDse(layout, entries =>
    entries.map(entry => substitute(entry, layout.dir, NOWHERE)),
  );
}

export interface Place {
  ldapPort: number;
  ldapsPort: number;
  account: Account;
  accessLog: 'immediate' | 'buffered';
}

/** Gives a copied instance its folder, its ports, its owner and its log. */
export async function placeInstance(
  layout: RealmLayout,
  { ldapPort, ldapsPort, account, accessLog }: Place,
): Promise<void> {
  await editDse(layout, entries => {
    const placed = entries.map(entry => substitute(entry, NOWHERE, layout.dir));
    placed
      .find(({ dn }) => normalizeDn(dn) === 'cn=config')
      ?.replace('nsslapd-port', String(ldapPort))
      .replace('nsslapd-securePort', String(ldapsPort))
      .replace('nsslapd-localuser', account.name)
      .replace(
        'nsslapd-accesslog-logbuffering',
        accessLog === 'buffered' ? 'on' : 'off',
      );
    return placed;
  });
}
