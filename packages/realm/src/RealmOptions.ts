import { dirname, join, resolve } from 'node:path';

/** This package, which runs from its sources only. */
export const PACKAGE_FOLDER = dirname(
  require.resolve('@directory-gateway/realm/package.json'),
);

/** The repository that the package is part of. */
export const REPOSITORY_FOLDER = join(PACKAGE_FOLDER, '../..');

/** What a realm is filled with. */
export interface RealmOptions {
  /** FAS users to generate. Default 200; up to 100,000 has been tried. */
  users?: number;
  /**
   * Path of an LDIF file to fill the realm with instead: the entries below
   * FreeIPA's containers of `dc=example,dc=test`. `users` and `seed` then have
   * no meaning.
   */
  ldif?: string;
  /** `fas` (default), or `freeipa`: the same without the Fedora Account System. */
  schema?: 'fas' | 'freeipa';
  /** Of the generator. Default 1. */
  seed?: number;
  /**
   * `immediate` (default): each line of the directory's access log is on the
   * disk before the operation ends, so that a test can read it. `buffered`: as
   * FreeIPA has it, and several times faster.
   */
  accessLog?: 'immediate' | 'buffered';
  /**
   * Folder that keeps prepared realms, so that only the first start of a kind
   * is slow. Default `.cache/realm` at the root of the repository.
   */
  cacheDir?: string;
  /** Told about every long step. Default: a line on standard error. */
  onProgress?: (step: string) => void;
  /** Gives up starting. Once the realm runs, it has no meaning. */
  signal?: AbortSignal;
}

/** The options with nothing left open; can be sent to another process. */
export interface ResolvedOptions {
  users: number;
  ldif?: string;
  schema: 'fas' | 'freeipa';
  seed: number;
  accessLog: 'immediate' | 'buffered';
  cacheDir: string;
}

/** @throws Error when an option has a value that cannot be meant */
export function resolveOptions(options: RealmOptions): ResolvedOptions {
  const { users = 200, seed = 1, schema = 'fas', ldif } = options;
  if (!Number.isSafeInteger(users) || users < 0) {
    throw new Error(`users: ${users} is not a number of people`);
  }
  if (!Number.isSafeInteger(seed)) {
    throw new Error(`seed: ${seed} is not a whole number`);
  }
  return {
    users,
    seed,
    schema,
    accessLog: options.accessLog ?? 'immediate',
    ldif: ldif === undefined ? undefined : resolve(ldif),
    cacheDir: resolve(
      options.cacheDir ?? join(REPOSITORY_FOLDER, '.cache/realm'),
    ),
  };
}
