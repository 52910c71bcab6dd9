import { dirname, join, resolve } from 'node:path';

/** Folder of this package, which runs from its sources. */
export const PACKAGE_FOLDER = dirname(
  require.resolve('@directory-gateway/realm/package.json'),
);

const REPOSITORY_FOLDER = join(PACKAGE_FOLDER, '../..');

/** Options of a realm. */
export interface RealmOptions {
  /** Number of generated FAS users. Default: 200; tested up to 100,000. */
  users?: number;
  /**
   * Path of an LDIF file that replaces the generated entries; it contains the
   * entries below FreeIPA's containers of `dc=example,dc=test`. `users` is then
   * ignored.
   */
  ldif?: string;
  /** `fas` (default), or `freeipa`: without the Fedora Account System. */
  schema?: 'fas' | 'freeipa';
  /**
   * Whether the descriptions and links of groups are written for people, as in
   * `make start`. Default: false, with characters that have a meaning in LDAP.
   */
  demo?: boolean;
  /**
   * `immediate` (default): an operation ends after its line is written to the
   * access log, so that tests can read it. `buffered`: as in FreeIPA, and
   * several times faster.
   */
  accessLog?: 'immediate' | 'buffered';
  /**
   * Folder of the templates. Default: `.cache/realm` at the root of the
   * repository.
   */
  cacheDir?: string;
  /** Called before each long step. Default: writes to standard error. */
  onProgress?: (step: string) => void;
  /** Aborts the start; ignored afterwards. */
  signal?: AbortSignal;
}

/** Options with all defaults; can be sent to another process. */
export interface ResolvedOptions {
  users: number;
  ldif?: string;
  schema: 'fas' | 'freeipa';
  demo: boolean;
  accessLog: 'immediate' | 'buffered';
  cacheDir: string;
}

/** @throws Error when an option is invalid */
export function resolveOptions(options: RealmOptions): ResolvedOptions {
  const { users = 200, schema = 'fas', demo = false, ldif } = options;
  if (!Number.isSafeInteger(users) || users < 0) {
    throw new Error(`users: ${users} is not a number of users`);
  }
  return {
    users,
    schema,
    demo,
    accessLog: options.accessLog ?? 'immediate',
    ldif: ldif === undefined ? undefined : resolve(ldif),
    cacheDir: resolve(
      options.cacheDir ?? join(REPOSITORY_FOLDER, '.cache/realm'),
    ),
  };
}
