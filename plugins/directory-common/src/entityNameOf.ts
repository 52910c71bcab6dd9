import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';

/** Valid names of catalog entities. */
const ENTITY_NAME = /^[a-z0-9](?:[a-z0-9_.-]{0,61}[a-z0-9])?$/i;

/**
 * The location of catalog entities that come from the directory
 * (`catalog-backend-module-directory`).
 *
 * @public
 */
export const DIRECTORY_ENTITY_LOCATION = 'directory:default';

/**
 * Whether a group contains every user, as FreeIPA's `ipausers` does. Such a
 * group owns nothing, and its members are not in the catalog.
 *
 * @public
 */
export function isGroupOfAllUsers(groupname: string): boolean {
  return groupname.toLowerCase() === 'ipausers';
}

/** The end of a mapped name. */
const MAPPED = /--[0-9a-f]{16}$/i;

const MAX_LENGTH = 63;

/**
 * The name of the catalog entity of a directory user or group. Most names are
 * also valid names of entities and stay as they are. Any other name becomes its
 * valid part and 16 hexadecimal digits of its SHA-256: `trust admins` becomes
 * `trust-admins--` and the digits. A name that already looks like a mapped name is
 * mapped as well, so that a group cannot take the entity of another group by its
 * name. The case of letters does not count, as in the directory.
 *
 * @public
 */
export function entityNameOf(name: string): string {
  if (ENTITY_NAME.test(name) && !MAPPED.test(name)) {
    return name;
  }
  const digits = bytesToHex(sha256(utf8ToBytes(name.toLowerCase()))).slice(
    0,
    16,
  );
  const suffix = `--${digits}`;
  const readable = name
    .replace(/[^a-z0-9_.]+/gi, '-')
    .replace(/^[^a-z0-9]+/i, '')
    .slice(0, MAX_LENGTH - suffix.length)
    .replace(/[^a-z0-9]+$/i, '');
  return readable === '' ? `x${suffix}` : `${readable}${suffix}`;
}
