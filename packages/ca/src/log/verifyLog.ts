import { X509Certificate, createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Certificate } from '@directory-gateway/x509';
import { issuerIdOf, publicKeyOf } from '../CaIssuer';
import { LOG_FILE } from './IssuanceLog';
import {
  type CertificateEntry,
  type LogEntry,
  LogFault,
  readLine,
  readLines,
} from './logLines';

/** Result of {@link verifyLog}. */
export interface LogVerification {
  readonly files: number;
  readonly lines: number;
  readonly certificates: number;
  /** Ids of the CAs that signed the certificates. */
  readonly issuers: readonly string[];
  /** Files whose last line is incomplete, because a process was interrupted. */
  readonly incomplete: readonly string[];
  /** The first fault; `undefined` when the log was not changed. */
  readonly fault?: {
    readonly file: string;
    /** Line number, from 1. */
    readonly line: number;
    readonly message: string;
  };
}

class Verifier {
  readonly #folder: string;
  /**
   * Hashes in the first lines of files, by `file:line`, with the file that
   * contains them.
   */
  readonly #named = new Map<string, { sha256: string; by: string }>();
  readonly #issuers = new Map<string, X509Certificate>();
  readonly #serialNumbers = new Map<string, string>();
  readonly #incomplete = new Array<string>();
  #files = new Array<string>();
  #lines = 0;
  #certificates = 0;
  #fault: LogVerification['fault'];

  constructor(folder: string) {
    this.#folder = folder;
  }

  result(): LogVerification {
    return {
      files: this.#files.length,
      lines: this.#lines,
      certificates: this.#certificates,
      issuers: [...this.#issuers.keys()],
      incomplete: this.#incomplete,
      ...(this.#fault && { fault: this.#fault }),
    };
  }

  async run(): Promise<void> {
    const names = await readdir(this.#folder);
    this.#files = names.filter(name => name.endsWith('.jsonl')).sort();
    for (const file of this.#files) {
      await this.#readHeads(file);
    }
    for (const file of this.#files) {
      if (!this.#fault) {
        await this.#verifyFile(file);
      }
    }
    for (const [place, { by }] of this.#named) {
      const [file, line] = place.split(':');
      this.#report(
        file,
        Number(line),
        `the line is missing, but ${by} contains its hash`,
      );
    }
  }

  #report(file: string, line: number, message: string): void {
    this.#fault ??= { file, line, message };
  }

  /** Collects the hashes in the first line of a file. */
  async #readHeads(file: string): Promise<void> {
    for await (const { bytes } of readLines(join(this.#folder, file))) {
      try {
        const entry = readLine(bytes, undefined);
        if (entry.kind === 'start') {
          for (const { file: named, lines, sha256 } of entry.heads) {
            this.#named.set(`${named}:${lines}`, { sha256, by: file });
          }
        }
      } catch {
        // Reported when the file is verified.
      }
      return;
    }
  }

  async #verifyFile(file: string): Promise<void> {
    const path = join(this.#folder, file);
    let previous: string | undefined;
    let line = 0;
    let size = 0;
    try {
      for await (const { bytes } of readLines(path)) {
        line += 1;
        size += bytes.length + 1;
        const entry = readLine(bytes, previous);
        previous = entry.sha256;
        this.#checkNamed(`${file}:${line}`, previous);
        this.#checkEntry(entry);
        this.#lines += 1;
      }
    } catch (error) {
      if (!(error instanceof LogFault)) {
        throw error;
      }
      this.#report(file, line, error.message);
    }
    if (!this.#fault && (await stat(path)).size > size) {
      this.#incomplete.push(file);
    }
    if (!LOG_FILE.test(file)) {
      this.#report(file, 1, 'the file was renamed');
    }
  }

  #checkNamed(place: string, sha256: string): void {
    const named = this.#named.get(place);
    this.#named.delete(place);
    if (named && named.sha256 !== sha256) {
      throw new LogFault(`the line does not match its hash in ${named.by}`);
    }
  }

  #checkEntry(entry: LogEntry): void {
    if (entry.kind === 'start') {
      for (const { id, chain } of entry.issuers) {
        if (issuerIdOf(publicKeyOf(chain[0])) !== id) {
          throw new LogFault('the certificate of a CA does not match its id');
        }
        this.#issuers.set(id, new X509Certificate(chain[0]));
      }
    } else if (entry.kind === 'certificate') {
      this.#checkCertificate(entry);
      this.#certificates += 1;
    }
  }

  #checkCertificate({ request, certificate }: CertificateEntry): void {
    const serialNumber = String(request.serialNumber);
    const issuer = this.#issuers.get(request.issuerId);
    const { description } = new Certificate(certificate);
    if (
      !issuer ||
      !description.ok ||
      !new X509Certificate(certificate).verify(issuer.publicKey)
    ) {
      throw new LogFault(
        `certificate ${serialNumber} is not signed by CA ${request.issuerId}`,
      );
    }
    const actual = description.certificate;
    const subject = actual.subjectName.rdns.at(-1)?.[0].value;
    if (
      actual.serialNumber !== request.serialNumber ||
      subject !== request.username ||
      actual.notBefore !== wholeSecond(request.notBefore) ||
      actual.notAfter !== wholeSecond(request.notAfter)
    ) {
      throw new LogFault(
        `certificate ${serialNumber} does not match its request`,
      );
    }
    this.#checkUnique({ request, certificate });
  }

  /**
   * Checks that a serial number has one owner, key and content. Two processes may
   * have signed the same request at the same time.
   */
  #checkUnique({
    request,
    certificate,
  }: Pick<CertificateEntry, 'request' | 'certificate'>): void {
    const { requestedBy, csr, ...rest } = request;
    const identity = createHash('sha256')
      .update(publicKeyOf(certificate))
      .update(JSON.stringify({ ...rest, serialNumber: undefined }))
      .digest('base64');
    const serialNumber = String(request.serialNumber);
    const first = this.#serialNumbers.get(serialNumber);
    if (first !== undefined && first !== identity) {
      throw new LogFault(
        `serial number ${serialNumber} was used for another certificate`,
      );
    }
    this.#serialNumbers.set(serialNumber, identity);
  }
}

/**
 * Verifies the log of a folder: the hash chain of every file, the hashes of lines in
 * other files, the signature of each certificate, and that each certificate matches
 * its request. Does not detect lines that were removed from the end of the newest
 * file: the doctor compares the log with the portal's database.
 *
 * @throws Error of the file system, with its `code`.
 */
export async function verifyLog(folder: string): Promise<LogVerification> {
  const verifier = new Verifier(folder);
  await verifier.run();
  return verifier.result();
}

function wholeSecond(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}
