import { readSecretFile } from '@directory-gateway/secret-files';
import { readFile } from 'node:fs/promises';
import type { LdapConfig } from './LdapConfig';
import { DirectoryUnavailableError } from '../../directory/errors';
import type { LdapEndpoint } from './ldapClient';

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
      config.caFile &&
      (await readText('directory.ldap.caFile', () => readFile(config.caFile!))),
    bindDn: config.bindDn,
    bindPassword: await readPassword(config),
    connectTimeoutMs: config.connectTimeoutMs,
  };
}

async function readPassword({ bindPassword }: LdapConfig): Promise<string> {
  if (bindPassword.kind === 'value') {
    return bindPassword.value;
  }
  const key = 'directory.ldap.bindPasswordFile';
  const text = await readText(key, () => readSecretFile(bindPassword.path));
  return text.replace(/\r?\n$/, '');
}

/**
 * A file that is being written anew may be empty for a moment. With an empty
 * password the bind would be an anonymous one (RFC 4513 §5.1.2), and without
 * authorities the system's would be trusted.
 */
async function readText(
  key: string,
  read: () => Promise<Buffer>,
): Promise<string> {
  let text: string;
  try {
    text = (await read()).toString('utf8');
  } catch (error) {
    throw new DirectoryUnavailableError(
      `The file named by ${key} cannot be read`,
      { cause: error, reason: 'unreachable' },
    );
  }
  if (text.trim() === '') {
    throw new DirectoryUnavailableError(`The file named by ${key} is empty`, {
      reason: 'unreachable',
    });
  }
  return text;
}
