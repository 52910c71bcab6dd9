import { containersBelow } from './containers';
import { isPresent } from './filters';
import type { Asking, LdapReader } from './LdapReader';

/**
 * Reads one entry that is always there, and rejects as any question does when
 * the directory cannot be asked, or its rights are not proven.
 */
export async function probeDirectory(
  options: { readonly reader: LdapReader; readonly baseDn: string },
  asking: Asking,
): Promise<void> {
  const { reader, baseDn } = options;
  await reader.readOne(
    {
      base: containersBelow(baseDn).accounts,
      filter: isPresent('objectClass'),
      attributes: ['objectClass'],
    },
    asking,
  );
}
