import type { LoggerService } from '@backstage/backend-plugin-api';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import { createCaCertificate } from '@directory-gateway/x509';
import {
  type KeyObject,
  X509Certificate,
  generateKeyPairSync,
} from 'node:crypto';
import {
  type AuthorityRecord,
  type AuthorityStore,
  readChainFile,
} from './AuthorityStore';
import { type KeyFile, UnusableKeyError } from './KeyFile';
import {
  type SigningAuthority,
  authorityIdOf,
  backdated,
  createSigningAuthority,
} from './SigningAuthority';

/** Origin of the CA: generated at first start, or provided. */
export type AuthorityOrigin =
  | {
      readonly kind: 'generated';
      /** The `CN` of the root. */
      readonly commonName: string;
      readonly validityMs: number;
    }
  | {
      readonly kind: 'provided';
      /** Absolute path of the CA's certificate and its issuers, PEM. */
      readonly chainFile: string;
    };

/** Options of {@link CurrentAuthority.create}. */
export interface CurrentAuthorityOptions {
  readonly config: {
    /** The `O` of the subject of a generated CA. */
    readonly organization: string;
    readonly origin: AuthorityOrigin;
  };
  readonly keyFile: KeyFile;
  readonly authorities: AuthorityStore;
  readonly logger: LoggerService;
}

/** The CA with which this instance signs, or the reason why it cannot sign. */
export class CurrentAuthority {
  readonly #options: CurrentAuthorityOptions;
  #authority: SigningAuthority | undefined;
  #failure: string | undefined;

  /**
   * Opens the CA. An instance that cannot sign logs the reason and still reads
   * certificates.
   */
  static async create(
    options: CurrentAuthorityOptions,
  ): Promise<CurrentAuthority> {
    const current = new CurrentAuthority(options);
    await current.open();
    return current;
  }

  private constructor(options: CurrentAuthorityOptions) {
    this.#options = options;
  }

  /** Whether this instance can sign. */
  get isOpen(): boolean {
    return this.#authority !== undefined;
  }

  /** @throws AuthorityUnavailableError when this instance cannot sign. */
  get(): SigningAuthority {
    if (!this.#authority) {
      throw new AuthorityUnavailableError(
        `This instance cannot sign: ${this.#failure}`,
      );
    }
    return this.#authority;
  }

  /** Tries again when the CA is not open: the key may be there now. */
  async open(): Promise<void> {
    const { logger } = this.#options;
    if (this.#authority) {
      return;
    }
    try {
      this.#authority = await openAuthority(this.#options);
      const { subject, validNotAfter } = this.#authority.issuer.certificate;
      logger.info(`Signing as ${subject} until ${validNotAfter}`);
    } catch (error) {
      if (!(error instanceof UnusableKeyError)) {
        throw error;
      }
      // Logged once per reason: this is tried every minute.
      if (error.message !== this.#failure) {
        logger.error(
          `This instance cannot sign certificates: ${error.message}`,
        );
      }
      this.#failure = error.message;
    }
  }
}

/**
 * Opens the CA on record with the key of this instance. Without a record, the
 * provided CA is adopted or a new one is generated; one of several concurrent
 * processes wins.
 *
 * @throws UnusableKeyError when this instance does not have the key of the CA on
 *   record. It must not sign, and never generates a second CA.
 */
async function openAuthority(
  options: CurrentAuthorityOptions,
): Promise<SigningAuthority> {
  const { config, keyFile, authorities, logger } = options;
  // Before the record is read: a key file appears after its record.
  const keyExisted = await keyFile.exists();
  const recorded =
    (await authorities.findCurrent()) ??
    (await establishAuthority(options, keyExisted));

  const authority = createSigningAuthority({
    privateKey: await readKeyOf(recorded, keyFile),
    chain:
      config.origin.kind === 'provided'
        ? await readChainFile(config.origin.chainFile)
        : recorded.chain,
  });
  if (!authority.chain[0].equals(recorded.chain[0])) {
    requireSameName(authority.chain[0], recorded.chain[0]);
    await authorities.replaceChain(authority);
    logger.info(`Renewed the certificate of CA ${authority.id}`);
  }
  if (config.origin.kind === 'generated') {
    await keyFile.removePending();
  }
  return authority;
}

/** Reads the key file; a pending key is moved to it first. */
async function readKeyOf(
  { id }: AuthorityRecord,
  keyFile: KeyFile,
): Promise<KeyObject> {
  let privateKey = await keyFile.read();
  if (!privateKey) {
    // The key is new, a process crashed, or another one is about to move it.
    await keyFile.promote(id);
    privateKey = await keyFile.read();
  }
  if (!privateKey) {
    throw new UnusableKeyError(
      `${keyFile.path} does not exist, but the database has a record of CA ${id}: copy its key to this instance`,
    );
  }
  const ownId = authorityIdOf(privateKey);
  if (ownId !== id) {
    throw new UnusableKeyError(
      `${keyFile.path} is the key of CA ${ownId}, but the database has a record of CA ${id}`,
    );
  }
  return privateKey;
}

/** Issued certificates contain the issuer's name: it must not change. */
function requireSameName(renewed: Buffer, recorded: Buffer): void {
  if (
    new X509Certificate(renewed).subject !==
    new X509Certificate(recorded).subject
  ) {
    throw new UnusableKeyError(
      'The CA certificate has another subject than the one on record',
    );
  }
}

/**
 * Records the first CA: the provided one, or a new one.
 *
 * @param keyExisted - whether the key file existed before the record was read
 * @returns the CA on record, which may be that of a faster process
 * @throws UnusableKeyError when it is not certain which CA is meant.
 */
async function establishAuthority(
  options: CurrentAuthorityOptions,
  keyExisted: boolean,
): Promise<AuthorityRecord> {
  const { config, keyFile } = options;
  if (config.origin.kind === 'provided') {
    return await adopt(config.origin, options);
  }
  if (keyExisted) {
    throw new UnusableKeyError(
      `${keyFile.path} exists, but the database has no record of a CA: it is another database, or was lost. Restore the database, or move the key file away to generate a new CA`,
    );
  }
  return await generate(config.origin, options);
}

async function adopt(
  { chainFile }: AuthorityOrigin & { kind: 'provided' },
  { keyFile, authorities, logger }: CurrentAuthorityOptions,
): Promise<AuthorityRecord> {
  const privateKey = await keyFile.read();
  if (!privateKey) {
    throw new UnusableKeyError(`${keyFile.path} does not exist`);
  }
  const authority = createSigningAuthority({
    chain: await readChainFile(chainFile),
    privateKey,
  });
  const current = await authorities.recordFirst(authority);
  if (current.id === authority.id) {
    logger.info(`Adopted CA ${authority.id}`);
  }
  return current;
}

/** Writes a pending key, records the CA, and leaves the key to `promote`. */
async function generate(
  { commonName, validityMs }: AuthorityOrigin & { kind: 'generated' },
  { config, keyFile, authorities, logger }: CurrentAuthorityOptions,
): Promise<AuthorityRecord> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const certificate = createCaCertificate({
    subject: [
      { type: 'O', value: config.organization },
      { type: 'CN', value: commonName },
    ],
    privateKey,
    notBefore: backdated(now),
    notAfter: new Date(now + validityMs),
  });
  const authority = createSigningAuthority({
    chain: [certificate],
    privateKey,
  });
  await keyFile.writePending(authority.id, privateKey);
  const current = await authorities.recordFirst(authority);
  if (current.id === authority.id) {
    logger.info(
      `Generated CA ${authority.id}, key in ${keyFile.path}: back it up`,
    );
  }
  return current;
}
