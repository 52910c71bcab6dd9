import type { Config } from '@backstage/config';
import { ConfigSources } from '@backstage/config-loader';
import { toError } from '@backstage/errors';
import type {
  DoctorCheck,
  DoctorContext,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type KerberosConfig,
  readKerberosConfig,
} from '@directory-gateway/kerberos';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { type DirectoryConfig, readDirectoryConfig } from '../config';

const OWN_PACKAGE = '@directory-gateway/backstage-plugin-directory-backend';

/** Share of the time for all checks that a server has to respond. */
const RESPONSE_SHARE = 0.7;

/** The portal that is checked. */
export interface Portal extends DoctorContext {
  readonly backend: BackendPackage;
  /** `backend.baseUrl` */
  readonly baseUrl: URL;
  readonly directory: DirectoryConfig;
  readonly kerberos: KerberosConfig;
}

/** Options of {@link loadPortal}. */
export interface PortalOptions {
  /** Paths of configuration files; empty for the default ones. */
  readonly configFiles: readonly string[];
  /** Time for all checks, in milliseconds. */
  readonly deadlineMs: number;
  /** Environment for the configuration and for Kerberos. */
  readonly env: NodeJS.ProcessEnv;
  /** The folder of the backend's package, or a folder above it. */
  readonly folder: string;
}

/**
 * Reads the configuration as the backend does.
 *
 * @throws Error that names the file or the key, without values of secrets.
 */
export async function loadPortal(options: PortalOptions): Promise<Portal> {
  const { configFiles, deadlineMs, env, folder } = options;
  const config = await loadConfig(configFiles, env);
  return {
    backend: findBackend(resolve(folder)),
    baseUrl: new URL(config.getString('backend.baseUrl')),
    config,
    directory: readDirectoryConfig(config),
    env,
    kerberos: readKerberosConfig(config),
    responseMs: RESPONSE_SHARE * deadlineMs,
  };
}

async function loadConfig(
  files: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Config> {
  const source = ConfigSources.default({
    argv: files.flatMap(file => ['--config', file]),
    env,
    substitutionFunc: async name => env[name],
  });
  try {
    const config = await ConfigSources.toConfig(source);
    config.close();
    return config;
  } catch (error) {
    // The messages of parsers quote the source, which may be a secret.
    const { message } = toError(error);
    const find = (pattern: RegExp) => pattern.exec(message)?.[1];
    const file = find(/\bfile (?:at )?"([^"]+)"/) ?? 'The configuration';
    const key = find(/ error at \.([\w.[\]-]+)/);
    const position = find(/\b(line \d+, column \d+)/);
    const reason =
      find(/\b(does not exist|EACCES|EISDIR|ENOENT|ENOTDIR|EPERM)\b/) ??
      'not valid YAML or JSON';
    throw new Error(
      `${[file, key, position].filter(Boolean).join(', ')}: ${reason}`,
    );
  }
}

/** The package of the portal's backend. */
export interface BackendPackage {
  /** Returns whether the backend loads a package. */
  loads(name: string): boolean;
  /** Returns the checks of the packages that the backend loads. */
  packageChecks(): readonly DoctorCheck[];
  /** Loads a module as the backend does. */
  readonly require: NodeJS.Require;
}

/**
 * Finds the package that depends on this one, in a folder or above it.
 *
 * @throws Error when there is none.
 */
function findBackend(folder: string): BackendPackage {
  for (const each of [folder, join(folder, 'packages/backend')]) {
    const manifest = join(each, 'package.json');
    const { dependencies = {} } = existsSync(manifest)
      ? JSON.parse(readFileSync(manifest, 'utf8'))
      : {};
    if (Object.hasOwn(dependencies, OWN_PACKAGE)) {
      return backendOf(each, Object.keys(dependencies));
    }
  }
  if (folder === dirname(folder)) {
    throw new Error(
      `No package.json depends on ${OWN_PACKAGE}: run this command in the folder of the backend`,
    );
  }
  return findBackend(dirname(folder));
}

function backendOf(
  folder: string,
  dependencies: readonly string[],
): BackendPackage {
  const require = createRequire(join(folder, 'package.json'));
  const entry = ['src/index.ts', 'dist/index.cjs.js']
    .map(file => join(folder, file))
    .find(existsSync);
  const source = entry
    ? readFileSync(entry, 'utf8').replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
    : JSON.stringify(dependencies);
  const loads = (name: string) =>
    dependencies.includes(name) &&
    [`'${name}'`, `"${name}"`, 'discoveryFeatureLoader'].some(text =>
      source.includes(text),
    );
  return {
    loads,
    packageChecks: () =>
      dependencies
        .filter(name => name.startsWith('@directory-gateway/') && loads(name))
        .filter(name => name !== OWN_PACKAGE)
        .filter(name =>
          Object.hasOwn(
            require(`${name}/package.json`).exports ?? {},
            './doctor',
          ),
        )
        .flatMap(name => require(`${name}/doctor`).doctorChecks),
    require,
  };
}
