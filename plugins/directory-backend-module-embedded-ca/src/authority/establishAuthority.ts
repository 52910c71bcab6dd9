import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createCaCertificate } from '@directory-gateway/x509';
import { backdated } from './backdated';
import type { AuthorityRecord } from './AuthorityStore';
import { KeyRefusedError } from './KeyRefusedError';
import type { OpenAuthorityOptions } from './openAuthority';
import { readChainFile } from './readChainFile';
import { SigningAuthority } from './SigningAuthority';

/**
 * Puts the first authority on record: the one that is given, or a new one.
 *
 * @returns the one on record, which may be that of a process that was faster
 * @throws KeyRefusedError when there is no telling which authority it shall be.
 */
export async function establishAuthority(
  options: OpenAuthorityOptions & {
    /** Whether the key was in its place before the record was looked for. */
    readonly keyWasThere: boolean;
  },
): Promise<AuthorityRecord> {
  const { config, keyFile, keyWasThere } = options;
  switch (config.origin.kind) {
    case 'given':
      return await adopt(config.origin, options);
    default:
      if (keyWasThere) {
        throw new KeyRefusedError(
          `${keyFile.path} is there, but this database knows no authority: it is another database, or was lost. Restore it, or move the file away to begin anew`,
        );
      }
      return await make(config.origin, options);
  }
}

async function adopt(
  origin: { readonly chainFile: string },
  { keyFile, authorities, logger }: OpenAuthorityOptions,
): Promise<AuthorityRecord> {
  const privateKey = await keyFile.read();
  if (!privateKey) {
    throw new KeyRefusedError(`${keyFile.path} is not there`);
  }
  const authority = SigningAuthority.create({
    chain: await readChainFile(origin.chainFile),
    privateKey,
  });
  const current = await authorities.recordFirst(authority);
  if (current.id === authority.id) {
    logger.info(`Adopted the certificate authority ${authority.id}`);
  }
  return current;
}

/**
 * The key is written beside its place before there is a record, and gets its
 * place after: see {@link KeyFile}.
 */
async function make(
  origin: { readonly commonName: string; readonly validityMs: number },
  { config, keyFile, authorities, logger }: OpenAuthorityOptions,
): Promise<AuthorityRecord> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { organization } = config;
  const certificate = selfSign({ ...origin, organization, privateKey });
  const authority = SigningAuthority.create({
    chain: [certificate],
    privateKey,
  });
  await keyFile.writePending(authority.id, privateKey);
  const current = await authorities.recordFirst(authority);
  if (current.id === authority.id) {
    logger.info(
      `Made the certificate authority ${authority.id}, its key in ${keyFile.path}: keep a copy`,
    );
  }
  return current;
}

function selfSign(options: {
  readonly commonName: string;
  readonly organization: string;
  readonly validityMs: number;
  readonly privateKey: KeyObject;
}): Buffer {
  const now = Date.now();
  return createCaCertificate({
    subject: [
      { type: 'O', value: options.organization },
      { type: 'CN', value: options.commonName },
    ],
    privateKey: options.privateKey,
    notBefore: backdated(now),
    notAfter: new Date(now + options.validityMs),
  });
}
