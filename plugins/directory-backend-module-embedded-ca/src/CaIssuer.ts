import { InputError, isError } from '@backstage/errors';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import {
  SecretFileError,
  readSecretFile,
} from '@directory-gateway/secret-files';
import {
  Issuer,
  type SigningKey,
  readPemBlocks,
  signingKeyOf,
} from '@directory-gateway/x509';
import { X509Certificate, createHash, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IssuerFiles } from './config';

/** Number of hex digits of an issuer's id in the URLs of its documents. */
const NAME_LENGTH = 16;

/** Name of a CA in URLs and metrics. */
export function nameOf(id: string): string {
  return id.slice(0, NAME_LENGTH);
}

/** A CA whose certificate and CRL the portal publishes. */
export class CaIssuer {
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly id: string;
  /** Name of the CA in URLs and metrics. */
  readonly name: string;
  /** Subject, on one line. */
  readonly subject: string;
  /** The CA certificate and the certificates of its issuers, DER. */
  readonly chain: readonly Buffer[];
  /** Period in which all certificates of the chain are valid, in milliseconds. */
  readonly validity: { readonly notBefore: number; readonly notAfter: number };
  /** Signs with the CA's key; `undefined` for a CA without a key. */
  readonly issuer: Issuer | undefined;
  readonly files: IssuerFiles;
  readonly #key: KeyFile | undefined;

  /**
   * Reads the certificates of a CA. The key is read on first use.
   *
   * @throws InputError when the chain is missing or invalid, or its first
   *   certificate may not sign certificates and CRLs.
   */
  static async read(files: IssuerFiles): Promise<CaIssuer> {
    try {
      return new CaIssuer(files, await readDocuments(files.chainFile));
    } catch (error) {
      const reason = isError(error) ? error.message : error;
      throw new InputError(
        `The CA certificate in ${files.chainFile} cannot be used: ${reason}`,
      );
    }
  }

  private constructor(files: IssuerFiles, chain: readonly Buffer[]) {
    const certificates = chain.map(der => new X509Certificate(der));
    for (const [index, above] of certificates.slice(1).entries()) {
      const below = certificates[index];
      if (!below.checkIssued(above) || !below.verify(above.publicKey)) {
        throw new TypeError(
          `certificate ${index + 1} of the chain is not signed by the next one`,
        );
      }
    }
    const [own] = certificates;
    const spki = own.publicKey.export({ type: 'spki', format: 'der' });
    this.id = createHash('sha256').update(spki).digest('hex');
    this.name = nameOf(this.id);
    this.subject = own.subject.split('\n').reverse().join(',');
    this.chain = chain;
    this.validity = {
      notBefore: Math.max(...certificates.map(c => c.validFromDate.getTime())),
      notAfter: Math.min(...certificates.map(c => c.validToDate.getTime())),
    };
    this.files = files;
    const { keyFile: path, passphraseFile } = files;
    if (path !== undefined) {
      this.#key = new KeyFile({ path, passphraseFile, spki });
      this.issuer = Issuer.create({ certificate: chain[0], key: this.#key });
      if (this.issuer.certificate.keyUsage?.includes('cRLSign') === false) {
        throw new TypeError('its key usage does not include cRLSign');
      }
    }
  }

  /**
   * Reads the key, if it has not been read yet.
   *
   * @throws AuthorityUnavailableError when the file cannot be read, is
   *   accessible to other users, or contains another key.
   */
  async openKey(): Promise<void> {
    await this.#key?.open();
  }

  /**
   * File with the last signed CRL, beside the key.
   *
   * @throws TypeError when the CA has no key.
   */
  get savedCrlFile(): string {
    if (this.files.keyFile === undefined) {
      throw new TypeError('The CA has no key');
    }
    return `${this.files.keyFile}.crl`;
  }

  /** Reads the CRL of a CA without a key, which may be replaced at any time. */
  async readFixedCrl(): Promise<Buffer | undefined> {
    const { crlFile } = this.files;
    return crlFile === undefined
      ? undefined
      : (await readDocuments(crlFile, 'X509 CRL'))[0];
  }
}

/** A CA's private key in a file, mode 0600 or stricter, read on first use. */
class KeyFile implements SigningKey {
  readonly spki: Buffer;
  readonly #path: string;
  readonly #passphraseFile: string | undefined;
  #key: Promise<SigningKey> | undefined;

  constructor(options: {
    readonly path: string;
    readonly passphraseFile?: string;
    /** SubjectPublicKeyInfo of the key that the file must contain, DER. */
    readonly spki: Buffer;
  }) {
    this.spki = options.spki;
    this.#path = options.path;
    this.#passphraseFile = options.passphraseFile;
  }

  async sign(...input: Parameters<SigningKey['sign']>): Promise<Buffer> {
    return await (await this.open()).sign(...input);
  }

  async open(): Promise<SigningKey> {
    this.#key ??= this.#read();
    try {
      return await this.#key;
    } catch (error) {
      // The next call reads the file again.
      this.#key = undefined;
      throw error;
    }
  }

  async #read(): Promise<SigningKey> {
    const pem = await readPrivateFile(this.#path);
    const passphrase =
      this.#passphraseFile === undefined
        ? undefined
        : (await readPrivateFile(this.#passphraseFile)).replace(/\r?\n$/, '');
    let key: SigningKey;
    try {
      key = signingKeyOf(createPrivateKey({ key: pem, passphrase }));
    } catch (error) {
      throw new AuthorityUnavailableError(
        `${this.#path} is not a PEM private key, or the passphrase is wrong`,
        error,
      );
    }
    if (!key.spki.equals(this.spki)) {
      throw new AuthorityUnavailableError(
        `${this.#path} is not the key of the CA's certificate`,
      );
    }
    return key;
  }
}

async function readPrivateFile(path: string): Promise<string> {
  try {
    const content = await readSecretFile(path, { groupMayRead: false });
    return content.toString('utf8');
  } catch (error) {
    if (isError(error) && error.code === 'ENOENT') {
      throw new AuthorityUnavailableError(`${path} does not exist`);
    }
    throw error instanceof SecretFileError
      ? new AuthorityUnavailableError(error.message)
      : new AuthorityUnavailableError(`${path} cannot be read`, error);
  }
}

/** Reads the PEM blocks of a file, or the whole file, which then is DER. */
async function readDocuments(
  path: string,
  label = 'CERTIFICATE',
): Promise<readonly Buffer[]> {
  const bytes = await readFile(path);
  const blocks = readPemBlocks(bytes.toString('latin1'), { label });
  return blocks.length > 0 ? blocks : [bytes];
}
