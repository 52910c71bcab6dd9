import { readFile, stat } from 'node:fs/promises';
import { isNativeError } from 'node:util/types';
import { KeytabEntry, parseKeytab } from './keytab';

/**
 * Whether tickets can be checked with a keytab, or what keeps them from it.
 */
export type KeytabState =
  | { usable: true; entries: KeytabEntry[] }
  | {
      usable: false;
      /** For the log: the path, what is wrong, and what to do. */
      problem: string;
    };

/**
 * Looks into a keytab file. The Kerberos library reads it anew for every token but says no more
 * than "no key", so this is for telling the administrator why.
 *
 * @returns never rejects
 */
export async function inspectKeytab(path: string): Promise<KeytabState> {
  let file: Buffer;
  try {
    file = await readRegularFile(path);
  } catch (error) {
    return unusable(path, describeFileError(error));
  }
  if (file.length === 0) {
    return unusable(path, 'is empty');
  }
  const entries = parseKeytab(file);
  if (!entries) {
    return unusable(path, 'is not in the format of a keytab');
  }
  if (entries.length === 0) {
    return unusable(path, 'holds no readable key');
  }
  return { usable: true, entries };
}

async function readRegularFile(path: string): Promise<Buffer> {
  // Before it is opened: a pipe would keep the caller waiting.
  if (!(await stat(path)).isFile()) {
    throw new Error('it is not a regular file');
  }
  return await readFile(path);
}

function describeFileError(error: unknown): string {
  if (!isNativeError(error)) {
    return `cannot be read (${error})`;
  }
  return 'code' in error && error.code === 'ENOENT'
    ? 'does not exist'
    : `cannot be read (${error.message})`;
}

function unusable(path: string, problem: string): KeytabState {
  return {
    usable: false,
    problem:
      `The keytab ${path} (kerberos.keytab) ${problem}: put one with the key of this server's ` +
      `HTTP/ principal there, readable by the portal's user.`,
  };
}
