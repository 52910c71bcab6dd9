import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import { type KeyFile, UnusableKeyError } from './KeyFile';
import { SigningAuthority, authorityIdOf, backdated } from './SigningAuthority';
import {
  type KeyObject,
  X509Certificate,
  generateKeyPairSync,
} from 'node:crypto';
import type { LoggerService } from '@backstage/backend-plugin-api';
import type { EmbeddedCaConfig } from '../config';
import {
  type AuthorityRecord,
  type AuthorityStore,
  readChainFile,
} from './AuthorityStore';
import { createCaCertificate } from '@directory-gateway/x509';

/** Keeps the authority open, or knows why this node must not sign. */
export class CurrentAuthority {
  readonly #options: OpenAuthorityOptions;
  #authority: SigningAuthority | undefined;
  #refusal: string | undefined;

  /**
   * Opens the authority. A node that must not sign can still read what was
   * signed: it says so in the log and goes on.
   */
  static async create(options: OpenAuthorityOptions): Promise<CurrentAuthority> {
    const keeper = new CurrentAuthority(options);
    await keeper.open();
    return keeper;
  }

  private constructor(options: OpenAuthorityOptions) {
    this.#options = options;
  }

  /** Whether this node may sign. */
  get isOpen(): boolean {
    return this.#authority !== undefined;
  }

  /** @throws AuthorityUnavailableError when this node must not sign. */
  get current(): SigningAuthority {
    if (!this.#authority) {
      throw new AuthorityUnavailableError(
        `This node does not sign: ${this.#refusal}`,
      );
    }
    return this.#authority;
  }

  /** Tries again when it is not open: the key may have been brought since. */
  async open(): Promise<void> {
    if (this.#authority) {
      return;
    }
    try {
      this.#authority = await openAuthority(this.#options);
      this.#options.logger.info(
        `Signs as ${this.#authority.issuer.certificate.subject}, until ${
          this.#authority.issuer.certificate.validNotAfter
        }`,
      );
    } catch (error) {
      if (!(error instanceof UnusableKeyError)) {
        throw error;
      }
      // Once for each reason: this is tried every minute.
      if (error.message !== this.#refusal) {
        this.#options.logger.error(
          `This node does not sign certificates: ${error.message}`,
        );
      }
      this.#refusal = error.message;
    }
  }
}

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
 * @throws UnusableKeyError when this node has not the key of the recorded
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
    throw new UnusableKeyError(
      `${keyFile.path} is not there, and the database knows the authority ${id}: copy its key to this node`,
    );
  }
  const ownId = authorityIdOf(privateKey);
  if (ownId !== id) {
    throw new UnusableKeyError(
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
    throw new UnusableKeyError(
      'The certificate of the authority has another subject than the one on record',
    );
  }
}

/**
 * Puts the first authority on record: the one that is given, or a new one.
 *
 * @returns the one on record, which may be that of a process that was faster
 * @throws UnusableKeyError when there is no telling which authority it shall be.
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
        throw new UnusableKeyError(
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
    throw new UnusableKeyError(`${keyFile.path} is not there`);
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
