import { readFile } from 'node:fs/promises';
import { DATA_CONTAINERS } from '../directory/baseTree';
import type { LdifEntry } from '../ldif/LdifEntry';
import { normalizeDn } from '../ldif/normalizeDn';
import { parseLdif } from '../ldif/ldif';

/**
 * The people, groups, services, hosts and agreements of an LDIF file. Its
 * suffix, containers, service accounts and whatever else are left out: those
 * are the realm's own.
 *
 * @throws Error when nothing is left, most likely for another suffix
 */
export async function readLdifEntries(path: string): Promise<LdifEntry[]> {
  const below = DATA_CONTAINERS.map(dn => `,${normalizeDn(dn)}`);
  const entries = parseLdif(await readFile(path, 'utf8')).filter(entry => {
    const dn = normalizeDn(entry.dn);
    return below.some(container => dn.endsWith(container));
  });
  if (entries.length === 0) {
    throw new Error(
      `${path} has no entries below ${DATA_CONTAINERS.join('; ')}`,
    );
  }
  return entries;
}
