import { InputError } from '@backstage/errors';
import type { SigningKey } from '@directory-gateway/x509';
import { CaIssuer } from './CaIssuer';
import { type IssuerConfig, readServeConfig } from './config';
import { KeyFile, readPassphrase } from './keys/KeyFile';
import { Pkcs11Key } from './keys/Pkcs11Key';
import { LocalSigner } from './LocalSigner';
import { SignerServer } from './socket/SignerServer';

/**
 * Signs for the clients of a Unix socket until SIGTERM or SIGINT, then finishes
 * the requests in flight.
 *
 * @param options - `configFile`: path of the configuration; `allowRoot`: whether
 *   the process may run as root
 * @throws Error when the configuration, a file or the socket cannot be used.
 */
export async function serve(options: {
  readonly configFile: string;
  readonly allowRoot: boolean;
}): Promise<void> {
  if (process.getuid?.() === 0 && !options.allowRoot) {
    throw new InputError(
      'must not run as root: create a user, or use --allow-root in a container',
    );
  }
  // Only the socket is accessible to the group.
  process.umask(0o077);
  const { issuers, profiles, publicUrl, logFolder, limit, socket } =
    await readServeConfig(options.configFile);
  const signer = await LocalSigner.open({
    issuers: await Promise.all(
      issuers.map(({ chainFile, key }) =>
        CaIssuer.read({ chainFile, keyOf: spki => openKey(key, spki) }),
      ),
    ),
    profiles,
    publicUrl,
    logFolder,
    limit,
    warn: log,
  });
  const heads = signer.logHeads.map(
    ({ file, lines, sha256 }) => `${file}, line ${lines}, SHA-256 ${sha256}`,
  );
  log(
    heads.length > 0
      ? `the issuance log ends with ${heads.join('; ')}`
      : 'the issuance log is empty',
  );
  try {
    const server = await SignerServer.listen({ signer, path: socket, log });
    const { issuers: served } = await signer.describe();
    log(
      `listening on ${socket} for CA ${served.map(({ id }) => id).join(', ')}`,
    );
    log(`stopping after ${await stopSignal()}`);
    await server.close();
  } finally {
    await signer.close();
  }
  log('stopped');
}

/** Opens a key. Its files must be readable at start; a token may be inserted later. */
async function openKey(
  key: IssuerConfig['key'],
  spki: Buffer,
): Promise<SigningKey> {
  if (key.kind === 'pkcs11') {
    const { module, token, key: label, pinFile } = key.place;
    await readPassphrase(pinFile);
    return new Pkcs11Key({ module, token, key: label, pinFile, spki });
  }
  const { path, passphraseFile } = key;
  const file = new KeyFile({ path, passphraseFile, spki });
  await file.open();
  return file;
}

/** Waits for SIGTERM or SIGINT. A second signal ends the process immediately. */
async function stopSignal(): Promise<NodeJS.Signals> {
  return await new Promise(resolve => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

/** Writes one line: the service manager adds the time. */
function log(line: string): void {
  const text = line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  process.stderr.write(`directory-ca: ${text}\n`);
}
