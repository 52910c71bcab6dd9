import type { LdifEntry } from '../ldif/LdifEntry';
import { REALM } from '../RealmLayout';

/** Every principal of the realm that an entry names, aliases included. */
export function principalsOf(entries: readonly LdifEntry[]): string[] {
  const names = entries.flatMap(entry => entry.texts('krbPrincipalName'));
  return names.filter(
    name => name.endsWith(`@${REALM}`) && /^[\x20-\x7e]+$/.test(name),
  );
}
