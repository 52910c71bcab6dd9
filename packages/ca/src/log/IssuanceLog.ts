import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assertError, toError } from '@backstage/errors';
import {
  type IssuerDescription,
  type LoggedCertificate,
  SignerUnavailableError,
} from '../CertificateSigner';
import { type LinePlace, LogState } from './LogState';
import {
  type Head,
  type LogEntry,
  LogFault,
  readEntryAgain,
  readLine,
  readLineAt,
  readLines,
  writeLine,
} from './logLines';

/** Options of {@link IssuanceLog.open}. */
export interface IssuanceLogOptions {
  /** Absolute path; created with mode 0700 when it does not exist. */
  readonly folder: string;
  /** The CAs whose certificates the log contains. */
  readonly issuers: readonly Pick<IssuerDescription, 'id' | 'chain'>[];
  /** Logs a warning for an operator, on one line. */
  readonly warn: (message: string) => void;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** State of a file after the last read or write. */
interface FileState {
  readonly name: string;
  readonly lines: number;
  /** Size of the complete lines in bytes. */
  readonly size: number;
  /** SHA-256 of the last line; `undefined` when the file is empty. */
  readonly sha256: string | undefined;
  /** Size of the file when it was last read, including an incomplete line. */
  readonly seenSize: number;
}

/** File names: the creation time and a random part. */
export const LOG_FILE = /^\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{16}\.jsonl$/;

const NEWLINE = Buffer.from('\n');

interface Waiting {
  readonly entry: LogEntry;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * The append-only log of a signer. Each process appends to its own file and reads
 * the files of other processes, so that several processes can share a folder without
 * locks.
 *
 * Each line contains the hash of the previous one, and the first line of a file the
 * hashes of the last lines of earlier files. A line therefore cannot be changed or
 * removed without changing all later lines.
 */
export class IssuanceLog {
  readonly state = new LogState();
  readonly #options: IssuanceLogOptions;
  /** Files of other processes, and files that this process no longer writes. */
  readonly #files = new Map<string, FileState>();
  /** SHA-256 hashes in the first lines of files, by `file:line`. */
  readonly #named = new Map<string, string>();
  #own: (FileState & { readonly handle: FileHandle }) | undefined;
  #waiting = new Array<Waiting>();
  #writing: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #nextRefresh: Promise<void> | undefined;
  #isClosed = false;

  /**
   * Reads the log of a folder.
   *
   * @throws SignerUnavailableError when the log cannot be read, is accessible to
   *   other users, or was changed.
   */
  static async open(options: IssuanceLogOptions): Promise<IssuanceLog> {
    const { folder, warn } = options;
    const log = new IssuanceLog(options);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { mode, uid } = await stat(folder);
      if ((mode & 0o077) !== 0) {
        throw new Error('it is accessible to other users: run chmod 700');
      }
      if (uid !== process.geteuid?.()) {
        throw new Error(`it belongs to another user (uid ${uid})`);
      }
      await log.#readHeads();
      await log.#readFiles();
      log.#requireNamedFiles();
      for (const { name, size } of log.#files.values()) {
        if ((await stat(join(folder, name))).size > size) {
          warn(
            `The last line of ${name} is incomplete and ignored: its process was interrupted`,
          );
        }
      }
      return log;
    } catch (error) {
      throw unavailable(folder, error);
    }
  }

  private constructor(options: IssuanceLogOptions) {
    this.#options = options;
  }

  /** The last lines of the files, except those in the first line of another file. */
  get heads(): readonly Head[] {
    return [...this.#files.values()].flatMap(({ name, lines, sha256 }) =>
      sha256 === undefined || this.#named.has(`${name}:${lines}`)
        ? []
        : { file: name, lines, sha256 },
    );
  }

  /**
   * Reads what other processes have written before this call.
   *
   * @throws SignerUnavailableError as {@link IssuanceLog.open}.
   */
  async refresh(): Promise<void> {
    // A running refresh may have read a file before this call.
    this.#nextRefresh ??= (this.#refreshing ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#refreshing = this.#nextRefresh;
        this.#nextRefresh = undefined;
        return this.#readFiles();
      });
    try {
      await this.#nextRefresh;
    } catch (error) {
      throw unavailable(this.#options.folder, error);
    }
  }

  /**
   * Appends an entry. The entry is on disk when the promise resolves; entries
   * that wait at the same time are written together.
   *
   * @throws SignerUnavailableError when the entry cannot be written.
   */
  async append(entry: LogEntry): Promise<void> {
    if (this.#isClosed) {
      throw new SignerUnavailableError('The issuance log is closed');
    }
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
    });
    this.#writing ??= this.#writeWaiting();
    await written;
  }

  /** Reads the entry at a place of {@link IssuanceLog.state} again. */
  async read(place: LinePlace): Promise<LogEntry> {
    const { folder } = this.#options;
    try {
      const bytes = await readLineAt(join(folder, place.file), place);
      return readEntryAgain(bytes, place.sha256);
    } catch (error) {
      throw unavailable(folder, error);
    }
  }

  /**
   * Returns the certificates, oldest first within each process that wrote them.
   *
   * @throws SignerUnavailableError when the log cannot be read.
   */
  async *certificates(): AsyncGenerator<LoggedCertificate, void> {
    await this.refresh();
    const own = this.#own ? [this.#own] : [];
    const files = [...this.#files.values(), ...own].sort(byName);
    try {
      for (const { name, size, sha256 } of files) {
        const path = join(this.#options.folder, name);
        let file = { name, lines: 0, sha256: undefined as string | undefined };
        for await (const { bytes, offset } of readLines(path)) {
          if (offset >= size) {
            break;
          }
          const entry = readNext(bytes, file);
          file = { name, lines: file.lines + 1, sha256: entry.sha256 };
          if (entry.kind === 'certificate') {
            yield this.#toLogged(entry);
          }
        }
        if (file.sha256 !== sha256) {
          throw new LogFault(`${name} was changed since it was read`);
        }
      }
    } catch (error) {
      throw unavailable(this.#options.folder, error);
    }
  }

  /** Writes pending entries, and closes the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#own?.handle.close();
    this.#own = undefined;
  }

  /**
   * Reads the first line of each file, which contains the hashes of earlier
   * files.
   */
  async #readHeads(): Promise<void> {
    const { folder } = this.#options;
    const names = await readdir(folder);
    for (const name of names.filter(file => LOG_FILE.test(file))) {
      for await (const { bytes } of readLines(join(folder, name))) {
        this.#noteHeads(readNext(bytes, { name, lines: 0, sha256: undefined }));
        break;
      }
    }
  }

  async #readFiles(): Promise<void> {
    const { folder } = this.#options;
    const names = (await readdir(folder)).filter(name => LOG_FILE.test(name));
    this.#requirePresent(names);
    const read = new Array<Parameters<LogState['add']>[0][number]>();
    for (const name of names.sort()) {
      if (name !== this.#own?.name) {
        read.push(...(await this.#readFile(name)));
      }
    }
    this.state.add(read);
  }

  async #readFile(name: string): Promise<Parameters<LogState['add']>[0]> {
    const path = join(this.#options.folder, name);
    let file: FileState = this.#files.get(name) ?? {
      name,
      lines: 0,
      size: 0,
      sha256: undefined,
      seenSize: 0,
    };
    const { size } = await stat(path);
    if (size < file.size) {
      throw new LogFault(`${name} is shorter than before`);
    }
    if (size === file.seenSize) {
      return [];
    }
    const read = new Array<Parameters<LogState['add']>[0][number]>();
    for await (const { bytes, offset } of readLines(path, {
      from: file.size,
    })) {
      const entry = readNext(bytes, file);
      read.push({
        entry,
        place: {
          file: name,
          offset,
          length: bytes.length,
          sha256: entry.sha256,
        },
      });
      file = follow(file, { bytes, sha256: entry.sha256 });
      this.#checkNamed(file);
      this.#noteHeads(entry);
    }
    this.#files.set(name, { ...file, seenSize: size });
    return read;
  }

  #noteHeads(entry: LogEntry): void {
    if (entry.kind === 'start') {
      entry.heads.forEach(head =>
        this.#named.set(`${head.file}:${head.lines}`, head.sha256),
      );
    }
  }

  #checkNamed({ name, lines, sha256 }: FileState): void {
    const named = this.#named.get(`${name}:${lines}`);
    if (named !== undefined && named !== sha256) {
      throw new LogFault(
        `${name}, line ${lines}: the line does not match its hash in another file`,
      );
    }
  }

  #requirePresent(names: readonly string[]): void {
    const own = this.#own ? [this.#own.name] : [];
    for (const name of [...this.#files.keys(), ...own]) {
      if (!names.includes(name)) {
        throw new LogFault(`${name} was removed`);
      }
    }
  }

  /**
   * Requires the lines whose hashes are in other files: without them,
   * revocations and blocked keys would be lost.
   */
  #requireNamedFiles(): void {
    for (const named of this.#named.keys()) {
      const [name, lines] = named.split(':');
      if ((this.#files.get(name)?.lines ?? 0) < Number(lines)) {
        throw new LogFault(`${name} or some of its lines are missing`);
      }
    }
  }

  async #writeWaiting(): Promise<void> {
    // Writes entries of this turn of the event loop and of the next one together.
    await nextTurn();
    await nextTurn();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch.map(({ entry }) => entry));
        batch.forEach(({ resolve }) => resolve());
      } catch (error) {
        const failure = unavailable(this.#options.folder, error);
        batch.forEach(({ reject }) => reject(failure));
      }
    }
    this.#writing = undefined;
  }

  async #write(entries: readonly LogEntry[]): Promise<void> {
    const own = this.#own ?? (await this.#create());
    const start = own.lines === 0 ? [await this.#composeStart()] : [];
    let file: FileState = own;
    const places = new Array<Parameters<LogState['add']>[0][number]>();
    const buffers = new Array<Buffer>();
    for (const entry of [...start, ...entries]) {
      const line = writeLine(entry, file.sha256);
      places.push({
        entry,
        place: {
          file: own.name,
          offset: file.size,
          length: line.bytes.length,
          sha256: line.sha256,
        },
      });
      buffers.push(line.bytes, NEWLINE);
      file = follow(file, line);
    }
    try {
      await own.handle.appendFile(Buffer.concat(buffers));
      await own.handle.datasync();
    } catch (error) {
      // The content on disk is unknown: the file is read again like that of an
      // interrupted process, and the next entry starts a new file.
      const { handle, ...written } = own;
      this.#files.set(own.name, written);
      this.#own = undefined;
      await handle.close().catch(() => {});
      throw error;
    }
    this.#own = { ...file, handle: own.handle };
    this.state.add(places);
  }

  async #composeStart(): Promise<LogEntry> {
    const { issuers, now } = this.#options;
    await this.refresh();
    const { heads } = this;
    for (const { file } of heads) {
      // A line whose hash is recorded must survive a power failure: its process
      // may have been interrupted before the line was on disk.
      await sync(join(this.#options.folder, file));
    }
    return {
      kind: 'start',
      time: new Date(now()),
      heads,
      issuers: issuers.map(({ id, chain }) => ({ id, chain })),
    };
  }

  async #create(): Promise<FileState & { readonly handle: FileHandle }> {
    const { folder, now } = this.#options;
    const time = new Date(now()).toISOString().replace(/[-:]/g, '');
    const name = `${time}-${randomBytes(8).toString('hex')}.jsonl`;
    const handle = await open(join(folder, name), 'ax', 0o600);
    this.#own = {
      name,
      lines: 0,
      size: 0,
      sha256: undefined,
      seenSize: 0,
      handle,
    };
    await sync(folder);
    return this.#own;
  }

  #toLogged(entry: LogEntry & { kind: 'certificate' }): LoggedCertificate {
    const { request, time, certificate } = entry;
    const { issuerId, serialNumber, username, profile, requestedBy } = request;
    const listed = this.state.crlOf(issuerId).entries.get(String(serialNumber));
    return {
      issuerId,
      serialNumber,
      username,
      profile,
      requestedBy,
      signedAt: time,
      certificate,
      revocation: listed && {
        revokedAt: listed.revokedAt,
        reason: listed.reason,
      },
    };
  }
}

function readNext(
  bytes: Buffer,
  file: Pick<FileState, 'name' | 'lines' | 'sha256'>,
): ReturnType<typeof readLine> {
  try {
    return readLine(bytes, file.sha256);
  } catch (error) {
    assertError(error);
    throw new LogFault(
      `${file.name}, line ${file.lines + 1}: ${error.message}`,
    );
  }
}

function follow(
  file: FileState,
  line: { readonly bytes: Buffer; readonly sha256: string },
): FileState {
  return {
    name: file.name,
    lines: file.lines + 1,
    size: file.size + line.bytes.length + 1,
    sha256: line.sha256,
    seenSize: file.seenSize,
  };
}

function byName(a: FileState, b: FileState): number {
  return a.name < b.name ? -1 : 1;
}

/** Flushes a file, or the names in a folder, to disk. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function unavailable(folder: string, error: unknown): SignerUnavailableError {
  const { message } = toError(error);
  const advice =
    error instanceof LogFault
      ? `: run "directory-ca verify-log ${folder}", then restore the files from a backup`
      : '';
  return error instanceof SignerUnavailableError
    ? error
    : new SignerUnavailableError(
        `The issuance log in ${folder} is not available: ${message}${advice}`,
      );
}
