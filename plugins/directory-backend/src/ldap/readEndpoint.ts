import { readFile } from 'node:fs/promises';
import type { LdapConfig } from './LdapConfig';
import { DirectoryUnavailableError } from '../directory/errors';
import type { LdapEndpoint } from './LdapConnection';

/**
 * Where and as whom to connect. The files are read for each new connection,
 * so that a rotated password or authority takes effect without a restart.
 */
export async function readEndpoint(
  url: string,
  config: LdapConfig,
): Promise<LdapEndpoint> {
  return {
    url,
    startTls: config.startTls,
    ca:
      config.caFile && (await readText(config.caFile, 'directory.ldap.caFile')),
    bindDn: config.bindDn,
    bindPassword:
      config.bindPassword.kind === 'value'
        ? config.bindPassword.value
        : (
            await readText(
              config.bindPassword.path,
              'directory.ldap.bindPasswordFile',
            )
          ).replace(/\r?\n$/, ''),
    connectTimeoutMs: config.connectTimeoutMs,
  };
}

async function readText(path: string, key: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new DirectoryUnavailableError(
      `The file named by ${key} cannot be read`,
      error,
    );
  }
}
