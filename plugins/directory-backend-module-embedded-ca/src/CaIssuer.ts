import { InputError } from '@backstage/errors';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import { readSecretFile } from '@directory-gateway/secret-files';
import {
  Issuer,
  type SigningKey,
  readPemBlocks,
  signingKeyOf,
} from '@directory-gateway/x509';
import { X509Certificate, createHash, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IssuerFiles } from './config';

/** Name of a CA in URLs and metrics. */
export function nameOf(id: string): string {
  return id.slice(0, 16);
}

/** A CA whose certificate and CRL the portal publishes. */
export class CaIssuer {
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly id: string;
  readonly name: string;
  /** Subject, on one line. */
  readonly subject: string;
  /** The CA certificate and the certificates of its issuers, DER. */
  readonly chain: readonly Buffer[];
  /** Period in which the whole chain is valid, in milliseconds since 1970. */
  readonly validity: { readonly notBefore: number; readonly notAfter: number };
  readonly files: IssuerFiles;
  /** Signs with the CA's key; `undefined` for a CA without a key. */
  readonly issuer: Issuer | undefined;
  readonly #spki: Buffer;
  #key: Promise<SigningKey> | undefined;

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
      throw new InputError(
        `The CA certificate in ${files.chainFile} cannot be used: ${error}`,
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
    const [{ publicKey, subject }] = certificates;
    this.#spki = publicKey.export({ type: 'spki', format: 'der' });
    this.id = createHash('sha256').update(this.#spki).digest('hex');
    this.name = nameOf(this.id);
    this.subject = subject.split('\n').reverse().join(',');
    this.chain = chain;
    this.validity = {
      notBefore: Math.max(...certificates.map(c => c.validFromDate.getTime())),
      notAfter: Math.min(...certificates.map(c => c.validToDate.getTime())),
    };
    this.files = files;
    if (files.keyFile !== undefined) {
      const key: SigningKey = {
        spki: this.#spki,
        sign: async (...input) => (await this.openKey()).sign(...input),
      };
      this.issuer = Issuer.create({ certificate: chain[0], key });
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
  async openKey(): Promise<SigningKey> {
    this.#key ??= this.#readKey();
    try {
      return await this.#key;
    } catch (error) {
      // The next call reads the file again.
      this.#key = undefined;
      throw error;
    }
  }

  async #readKey(): Promise<SigningKey> {
    const { keyFile = '', passphraseFile } = this.files;
    const pem = await readPrivateFile(keyFile);
    const passphrase =
      passphraseFile === undefined
        ? undefined
        : (await readPrivateFile(passphraseFile)).replace(/\r?\n$/, '');
    let key: SigningKey;
    try {
      key = signingKeyOf(createPrivateKey({ key: pem, passphrase }));
    } catch (error) {
      throw new AuthorityUnavailableError(
        `${keyFile} is not a PEM private key, or the passphrase is wrong`,
        error,
      );
    }
    if (!key.spki.equals(this.#spki)) {
      throw new AuthorityUnavailableError(
        `${keyFile} is not the key of the CA's certificate`,
      );
    }
    return key;
  }

  /** Reads the CRL of a CA without a key, which may be replaced at any time. */
  async readFixedCrl(): Promise<Buffer | undefined> {
    const { crlFile } = this.files;
    return crlFile ? (await readDocuments(crlFile, 'X509 CRL'))[0] : undefined;
  }
}

async function readPrivateFile(path: string): Promise<string> {
  try {
    const content = await readSecretFile(path, { groupMayRead: false });
    return content.toString('utf8');
  } catch (error) {
    throw new AuthorityUnavailableError(`${path} cannot be read: ${error}`);
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
