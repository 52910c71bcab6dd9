import { X509Certificate, type KeyObject } from 'node:crypto';
import type { LoggerService } from '@backstage/backend-plugin-api';
import type { EmbeddedCaConfig } from '../config';
import type { AuthorityRecord, AuthorityStore } from './AuthorityStore';
import { establishAuthority } from './establishAuthority';
import type { KeyFile } from './KeyFile';
import { KeyRefusedError } from './KeyRefusedError';
import { readChainFile } from './readChainFile';
import { authorityIdOf, SigningAuthority } from './SigningAuthority';

/** What {@link openAuthority} works with. */
export interface OpenAuthorityOptions {
  readonly config: EmbeddedCaConfig;
  readonly keyFile: KeyFile;
  readonly authorities: AuthorityStore;
  readonly logger: LoggerService;
}

/**
 * Opens the authority that the database has on record with the key of this
 * node. Where there is no record, the given one is adopted, or a new one made:
 * of any number of processes that do so at once, one wins.
 *
 * @throws KeyRefusedError when this node has not the key of the recorded
 *   authority: it must not sign, and never makes a second one.
 */
export async function openAuthority(
  options: OpenAuthorityOptions,
): Promise<SigningAuthority> {
  const { config, keyFile, authorities, logger } = options;
  // In this order: a key gets its place after its record.
  const keyWasThere = await keyFile.exists();
  const recorded =
    (await authorities.findCurrent()) ??
    (await establishAuthority({ ...options, keyWasThere }));

  const authority = SigningAuthority.create({
    privateKey: await readKeyOf(recorded, keyFile),
    chain:
      config.origin.kind === 'given'
        ? await readChainFile(config.origin.chainFile)
        : recorded.chain,
  });
  if (!authority.chain[0].equals(recorded.chain[0])) {
    requireSameName(authority.chain[0], recorded.chain[0]);
    await authorities.replaceChain(authority);
    logger.info(`The certificate of the authority ${authority.id} is renewed`);
  }
  if (config.origin.kind === 'made') {
    await keyFile.removePending();
  }
  return authority;
}

/** The key in its place; one that is still beside it is given its place first. */
async function readKeyOf(
  { id }: AuthorityRecord,
  keyFile: KeyFile,
): Promise<KeyObject> {
  let privateKey = await keyFile.read();
  if (!privateKey) {
    // New; or there was a crash before; or another process is about to do it.
    await keyFile.promote(id);
    privateKey = await keyFile.read();
  }
  if (!privateKey) {
    throw new KeyRefusedError(
      `${keyFile.path} is not there, and the database knows the authority ${id}: copy its key to this node`,
    );
  }
  const ownId = authorityIdOf(privateKey);
  if (ownId !== id) {
    throw new KeyRefusedError(
      `${keyFile.path} is the key of ${ownId}, and the database knows the authority ${id}: it is another key`,
    );
  }
  return privateKey;
}

/** What it has signed names its issuer: with another name it would be nobody's. */
function requireSameName(renewed: Buffer, recorded: Buffer): void {
  if (
    new X509Certificate(renewed).subject !==
    new X509Certificate(recorded).subject
  ) {
    throw new KeyRefusedError(
      'The certificate of the authority has another subject than the one on record',
    );
  }
}
