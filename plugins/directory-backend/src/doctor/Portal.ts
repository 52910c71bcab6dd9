import type { LifecycleService } from '@backstage/backend-plugin-api';
import { type Config, ConfigReader } from '@backstage/config';
import { ConfigSources } from '@backstage/config-loader';
import { isError } from '@backstage/errors';
import type { JsonValue } from '@backstage/types';
import {
  type Database,
  type DoctorCheck,
  type DoctorContext,
  silentLogger,
} from '@directory-gateway/backstage-plugin-directory-node';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { withDeadline } from '@directory-gateway/ldap';
import { type DirectoryConfig, readDirectoryConfig } from '../config';

const OWN_PACKAGE = '@directory-gateway/backstage-plugin-directory-backend';

/** Keys whose values are not printed. */
const SECRET_KEY = /pass|pwd|secret|token|credential|private|apiKey|^key$/i;

/** Credentials in a URL. */
const URL_CREDENTIALS = /(?<=:\/\/)[^/@\s]*@/g;

/**
 * Maximum time in milliseconds to load the configuration. Only a device or pipe
 * takes longer.
 */
const LOAD_MS = 2000;

/**
 * Minimum length of a secret to redact: shorter values also occur in ordinary
 * words.
 */
const MIN_SECRET_LENGTH = 4;

const noLifecycle: LifecycleService = {
  addStartupHook() {},
  addShutdownHook() {},
};

/** The package of the portal's backend. */
interface BackendPackage {
  readonly require: NodeJS.Require;
  readonly dependencies: readonly string[];
  /** Source of its entry point, without comments; `undefined` when unknown. */
  readonly entry?: string;
}

/** Options of {@link Portal.load}. */
export interface PortalOptions {
  /** Paths of configuration files; empty for the default ones. */
  readonly configFiles: readonly string[];
  /** Environment for the configuration and for Kerberos. */
  readonly env: NodeJS.ProcessEnv;
  /** The folder of the backend's package, or a folder above it. */
  readonly folder: string;
  /** Milliseconds for a response of the KDC, a directory server or the database. */
  readonly responseMs: number;
}

/** The portal that is checked. */
export class Portal implements DoctorContext {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds for a response of a server. */
  readonly responseMs: number;
  /** Reason why the configuration cannot be loaded; does not contain values. */
  readonly configError: string | undefined;
  readonly #backend: BackendPackage | undefined;
  readonly #closers: (() => unknown)[] = [];
  #directory: DirectoryConfig | undefined;
  #database: Promise<Database | undefined> | undefined;

  /** Loads the configuration as the backend does. */
  static async load(options: PortalOptions): Promise<Portal> {
    const { configFiles, env, folder, responseMs } = options;
    try {
      const source = ConfigSources.default({
        argv: configFiles.flatMap(file => ['--config', file]),
        env,
        substitutionFunc: async name => env[name],
      });
      const config = await withDeadline(ConfigSources.toConfig(source), {
        ms: LOAD_MS,
        error: () => new Error('not read within 2 seconds'),
      });
      config.close();
      return new Portal({ config, env, folder, responseMs });
    } catch (error) {
      const config = new ConfigReader({});
      const configError = describeLoadError(error);
      return new Portal({ config, env, folder, responseMs, configError });
    }
  }

  private constructor(options: {
    readonly config: Config;
    readonly env: NodeJS.ProcessEnv;
    readonly folder: string;
    readonly responseMs: number;
    readonly configError?: string;
  }) {
    this.config = options.config;
    this.env = options.env;
    this.responseMs = options.responseMs;
    this.configError = options.configError;
    this.#backend = findBackend(resolve(options.folder));
  }

  /** @throws InputError that names the invalid key. */
  get directory(): DirectoryConfig {
    this.#directory ??= readDirectoryConfig(this.config);
    return this.#directory;
  }

  /** @throws Error when `backend.baseUrl` is not a URL. */
  get baseUrl(): URL {
    return new URL(this.config.getString('backend.baseUrl'));
  }

  hasPackage(name: string): boolean {
    const { dependencies = [], entry } = this.#backend ?? {};
    return (
      dependencies.includes(name) &&
      (entry === undefined ||
        /\bdiscoveryFeatureLoader\b/.test(entry) ||
        entry.includes(`'${name}'`) ||
        entry.includes(`"${name}"`))
    );
  }

  /** Whether the source of the backend contains a word. */
  mentions(word: string): boolean {
    return this.#backend?.entry?.includes(word) ?? false;
  }

  /** Returns the checks of the packages that the backend loads. */
  packageChecks(): readonly DoctorCheck[] {
    const { dependencies = [], require: load } = this.#backend ?? {};
    return dependencies
      .filter(name => name.startsWith('@directory-gateway/'))
      .filter(name => name !== OWN_PACKAGE && this.hasPackage(name))
      .flatMap(name => {
        try {
          return load!(`${name}/doctor`).doctorChecks as DoctorCheck[];
        } catch (error) {
          if (
            isError(error) &&
            /MODULE_NOT_FOUND|PATH_NOT_EXPORTED/.test(String(error.code))
          ) {
            return [];
          }
          throw error;
        }
      });
  }

  database(): Promise<Database | undefined> {
    this.#database ??= this.#connect();
    return this.#database;
  }

  /** Registers work for {@link close}. */
  onClose(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  async close(): Promise<void> {
    for (const closer of this.#closers) {
      await closer();
    }
  }

  /** Replaces secrets of the configuration in a text. */
  redact(text: string): string {
    return secretsIn(this.config.getOptional() ?? {}).reduce(
      (redacted, secret) => redacted.replaceAll(secret, '***'),
      text.replace(URL_CREDENTIALS, '***@'),
    );
  }

  async #connect(): Promise<Database | undefined> {
    const { config } = this;
    if (!this.#backend || !mayExist(config)) {
      return undefined;
    }
    // The module that the backend uses.
    const { DatabaseManager } = this.#backend.require(
      '@backstage/backend-defaults/database',
    ) as typeof import('@backstage/backend-defaults/database');
    const never = { ensureExists: false };
    const manager = DatabaseManager.fromConfig(
      ConfigReader.fromConfigs([
        { context: 'portal', data: config.get() },
        {
          context: 'doctor',
          data: {
            backend: { database: { ...never, plugin: { directory: never } } },
          },
        },
      ]),
    );
    const database = await manager
      .forPlugin('directory', { logger: silentLogger, lifecycle: noLifecycle })
      .getClient();
    this.onClose(() => database.destroy());
    try {
      await database.raw('select 1');
      return database;
    } catch (error) {
      // invalid_catalog_name: the backend creates it when it starts.
      if (isError(error) && error.code === '3D000') {
        return undefined;
      }
      throw error;
    }
  }
}

/** Whether the plugin's database is in memory. */
export function isInMemory(config: Config): boolean {
  return /sqlite/.test(clientOf(config)) && sqliteFile(config) === ':memory:';
}

/** SQLite would create a missing file. */
function mayExist(config: Config): boolean {
  const isSqlite = /sqlite/.test(clientOf(config));
  return !isSqlite || existsSync(sqliteFile(config));
}

function clientOf(config: Config): string {
  return String(databaseSetting(config, 'client'));
}

function sqliteFile(config: Config): string {
  const connection = databaseSetting(config, 'connection');
  if (connection && typeof connection === 'object') {
    const { filename, directory } = connection as Record<string, string>;
    return filename ?? join(directory, 'directory.sqlite');
  }
  return String(connection ?? ':memory:');
}

function databaseSetting(config: Config, key: string): JsonValue | undefined {
  const database = config.getOptionalConfig('backend.database');
  return (
    database?.getOptional(`plugin.directory.${key}`) ??
    database?.getOptional(key)
  );
}

/** Finds the package that depends on this one, in a folder or above it. */
function findBackend(folder: string): BackendPackage | undefined {
  for (const each of [folder, join(folder, 'packages/backend')]) {
    const backend = readBackend(each);
    if (backend) {
      return backend;
    }
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : findBackend(parent);
}

function readBackend(folder: string): BackendPackage | undefined {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) {
    return undefined;
  }
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  if (!Object.hasOwn(dependencies, OWN_PACKAGE)) {
    return undefined;
  }
  const entry = ['src/index.ts', 'dist/index.cjs.js']
    .map(file => join(folder, file))
    .find(existsSync);
  return {
    require: createRequire(manifest),
    dependencies: Object.keys(dependencies),
    entry:
      entry &&
      readFileSync(entry, 'utf8').replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, ''),
  };
}

/**
 * Returns why the configuration cannot be loaded. Parser messages quote the
 * source, which may be a secret: the result contains only positions and names.
 */
function describeLoadError(error: unknown): string {
  const text = isError(error) ? error.message : '';
  const [, missing, file, key, included] =
    /^(?:Config file "([^"]+)" does not exist|Failed to read config file at "([^"]+)", error at \.([\w.[\]-]+), (?:failed to (?:read|parse included) file ([^,]+),)?)/.exec(
      text,
    ) ?? [];
  const [position] = /line \d+, column \d+/.exec(text) ?? [];
  const [reason] =
    /does not exist|not read within 2 seconds|\b(?:EACCES|EISDIR|ELOOP|ENOENT|ENOTDIR|EPERM)\b/.exec(
      text,
    ) ?? [];
  return [
    missing ?? included ?? file ?? 'The configuration',
    key && ` (${key})`,
    ' cannot be loaded: ',
    reason ?? 'not valid YAML or JSON',
    position && `, ${position}`,
  ].join('');
}

/** Strings and numbers of secret keys, and passwords in URLs. */
function secretsIn(value: JsonValue, isSecret = false): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value);
    const [, password] = /^\w+:\/\/[^/@\s]*?:([^/@\s]*)@/.exec(text) ?? [];
    const secrets = [password, isSecret ? text : undefined];
    return secrets.filter(
      secret => secret !== undefined && secret.length >= MIN_SECRET_LENGTH,
    ) as string[];
  }
  return value && typeof value === 'object'
    ? Object.entries(value).flatMap(([key, child]) =>
        secretsIn(
          child ?? null,
          // Names of files are not secrets.
          (isSecret || SECRET_KEY.test(key)) && !/File$/.test(key),
        ),
      )
    : [];
}
