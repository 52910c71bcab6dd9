import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Valid names of catalog entities. */
const ENTITY_NAME = /^[a-z0-9](?:[a-z0-9_.-]{0,61}[a-z0-9])?$/i;

/**
 * Location of catalog entities from the directory
 * (`catalog-backend-module-directory`).
 *
 * @public
 */
export const DIRECTORY_ENTITY_LOCATION = 'directory:default';

/**
 * Returns whether a group contains every user, like FreeIPA's `ipausers`. Such
 * a group does not own anything, and the catalog does not contain its
 * memberships.
 *
 * @public
 */
export function isGroupOfAllUsers(groupname: string): boolean {
  return groupname.toLowerCase() === 'ipausers';
}

/** Suffix of a mapped name. */
const MAPPED = /--[0-9a-f]{16}$/i;

const MAX_LENGTH = 63;

/**
 * Returns the name of the catalog entity of a directory user or group. Most
 * names are valid entity names and stay unchanged. Other names become their
 * valid part and 16 hexadecimal digits of their SHA-256: `trust admins` becomes
 * `trust-admins--` and the digits. Names that already look like mapped names
 * are mapped as well, so that a group cannot take over the entity of another
 * group. Names are case-insensitive, as in the directory.
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
