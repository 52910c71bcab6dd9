import { createHash } from 'node:crypto';
import {
  appendFile,
  copyFile,
  cp,
  mkdtemp,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { TestCa } from '../__testUtils__/TestCa';
import {
  type LoggedCertificate,
  SignerUnavailableError,
} from '../CertificateSigner';
import { IssuanceLog } from './IssuanceLog';
import { verifyLog } from './verifyLog';

jest.setTimeout(60_000);

let ca: TestCa;

beforeEach(async () => {
  ca = await TestCa.create();
});

afterEach(async () => {
  await ca.remove();
});

const file = (name: string) => join(ca.folder, name);
const files = async () => (await readdir(ca.folder)).sort();

async function openLog(): Promise<IssuanceLog> {
  return await IssuanceLog.open({
    folder: ca.folder,
    issuers: [ca.issuer],
    warn: message => ca.warnings.push(message),
    now: () => ca.now,
  });
}

function blockEntry(index: number) {
  return {
    kind: 'block' as const,
    time: new Date(ca.now),
    publicKeySha256: index.toString(16).padStart(64, '0'),
  };
}

async function serialNumbersIn(
  log: AsyncIterable<LoggedCertificate>,
): Promise<bigint[]> {
  const all = new Array<bigint>();
  for await (const { serialNumber } of log) {
    all.push(serialNumber);
  }
  return all;
}

describe('IssuanceLog', () => {
  it('writes waiting entries with one fsync', async () => {
    const log = await openLog();
    await log.append(blockEntry(0));
    const [name] = await files();
    const sizes = new Set<number>();
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        await log.append(blockEntry(index));
        sizes.add((await readFile(file(name))).length);
      }),
    );
    // Every entry was on disk when the first promise resolved.
    expect(sizes.size).toBe(1);
    await log.close();
    const lines = (await readFile(file(name), 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(102);
    expect((await stat(file(name))).mode & 0o777).toBe(0o600);
    expect(await verifyLog(ca.folder)).toMatchObject({ files: 1, lines: 102 });
  });

  it('does not create a file before the first entry', async () => {
    const signer = await ca.open();
    await signer.describe();
    await signer.close();
    expect(await files()).toEqual([]);
  });

  it('keeps the entries of processes that write at the same time', async () => {
    const signers = await Promise.all([1, 2, 3].map(() => ca.open()));
    const requests = await Promise.all(
      Array.from({ length: 30 }, () => ca.request()),
    );
    await Promise.all(
      requests.map((request, index) =>
        signers[index % 3].signCertificate(request),
      ),
    );
    const expected = requests.map(({ serialNumber }) => serialNumber).sort();
    for (const signer of [...signers, await ca.open()]) {
      const logged = await serialNumbersIn(signer.loggedCertificates());
      expect(logged.sort()).toEqual(expected);
    }
    expect(await verifyLog(ca.folder)).toMatchObject({
      files: 3,
      certificates: 30,
      issuers: [ca.issuer.id],
      incomplete: [],
    });
  });

  it('ignores and reports the incomplete last line of an interrupted process', async () => {
    const first = await ca.open();
    const request = await ca.request();
    const certificate = await first.signCertificate(request);
    await first.close();
    const [name] = await files();
    const line = (await readFile(file(name))).subarray(0, 300);
    await appendFile(file(name), line);

    const second = await ca.open();
    expect(ca.warnings).toEqual([
      `The last line of ${name} is incomplete and ignored: its process was interrupted`,
    ]);
    expect(await second.signCertificate(request)).toEqual(certificate);
    await second.signCertificate(await ca.request());
    const verification = await verifyLog(ca.folder);
    expect(verification).toMatchObject({
      files: 2,
      certificates: 2,
      incomplete: [name],
    });
    expect(verification.fault).toBeUndefined();
  });

  it('continues in another file when the disk reports an error', async () => {
    const signer = await ca.open();
    await signer.signCertificate(await ca.request());
    const [name] = await files();
    const handle = await open(file(name));
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    const datasync = jest.spyOn(prototype, 'datasync');
    datasync.mockRejectedValueOnce(new Error('EIO'));
    const request = await ca.request();
    await expect(signer.signCertificate(request)).rejects.toThrow(
      SignerUnavailableError,
    );
    datasync.mockRestore();

    ca.now += 1000;
    await signer.signCertificate(await ca.request());
    // The entry is in the file nevertheless: it must not be signed again.
    await signer.signCertificate(request);
    const verification = await verifyLog(ca.folder);
    expect(verification).toMatchObject({ files: 2, certificates: 3 });
    expect(verification.fault).toBeUndefined();
  });

  it.each<[string, (names: readonly string[]) => Promise<void>]>([
    ['a file is missing', ([name]) => rm(file(name))],
    ['a file is shorter', ([name]) => truncate(file(name), 100)],
    [
      'a line was changed',
      async ([name]) => {
        const text = await readFile(file(name), 'utf8');
        await writeFile(file(name), text.replace('alice', 'malic'));
      },
    ],
  ])('is unavailable when %s', async (_, damage) => {
    for (let run = 0; run < 2; run++) {
      ca.now += 1000;
      const signer = await ca.open();
      await signer.signCertificate(await ca.request());
      await signer.close();
    }
    await damage(await files());
    await expect(ca.open()).rejects.toThrow(SignerUnavailableError);
    await expect(ca.open()).rejects.toThrow(
      `run "directory-ca verify-log ${ca.folder}"`,
    );
  });

  it('is unavailable when a file was replaced by one with the same number of lines', async () => {
    const other = await TestCa.create(ca.issuer);
    try {
      for (const folder of [ca.folder, other.folder, ca.folder]) {
        ca.now += 1000;
        const signer = await ca.open({ logFolder: folder });
        await signer.signCertificate(await ca.request());
        await signer.close();
      }
      const [name] = await files();
      const [replacement] = await readdir(other.folder);
      await copyFile(join(other.folder, replacement), file(name));
      await expect(ca.open()).rejects.toThrow(
        `${name}, line 2: the line does not match its hash in another file`,
      );
    } finally {
      await other.remove();
    }
  });

  it('verifies lines when it reads them again', async () => {
    const request = await ca.request();
    await (await ca.open()).signCertificate(request);
    const signer = await ca.open();
    const [name] = await files();
    const lines = (await readFile(file(name), 'utf8')).split('\n');
    const members = lines[1]
      .replace(/,"digest":"[0-9a-f]{64}"\}$/, '')
      .replace('"username":"alice"', '"username":"malic"');
    const digest = createHash('sha256').update(members).digest('hex');
    lines[1] = `${members},"digest":"${digest}"}`;
    await writeFile(file(name), lines.join('\n'));
    const message = 'changed since it was read';
    await expect(signer.signCertificate(request)).rejects.toThrow(message);
    await expect(serialNumbersIn(signer.loggedCertificates())).rejects.toThrow(
      message,
    );
  });

  it('is unavailable when a file is removed at runtime', async () => {
    const [signer, other] = [await ca.open(), await ca.open()];
    await other.signCertificate(await ca.request());
    await signer.signCertificate(await ca.request());
    const [name] = await files();
    await rename(file(name), file('moved'));
    await expect(signer.signCertificate(await ca.request())).rejects.toThrow(
      `${name} was removed`,
    );
    await rename(file('moved'), file(name));
    await signer.signCertificate(await ca.request());
  });
});

async function openSigners(count: number) {
  return await Promise.all(Array.from({ length: count }, () => ca.open()));
}

describe('verifyLog', () => {
  let copy: string;
  let names: readonly string[];
  let originals: ReadonlyMap<string, Buffer>;

  /** Writes three files: two concurrently, then one with the hashes of both. */
  beforeEach(async () => {
    for (const count of [2, 1]) {
      ca.now += 1000;
      const signers = await openSigners(count);
      for (const signer of signers) {
        const request = await ca.request();
        await signer.signCertificate(request);
        await signer.blockKey({
          publicKeySha256: blockEntry(count).publicKeySha256,
        });
        const { issuers } = await signer.describe();
        const revoked = [
          {
            serialNumber: request.serialNumber,
            revokedAt: new Date(ca.now),
            reason: 'certificateHold' as const,
          },
        ];
        const number = issuers[0].crlNumber + 1n;
        await signer.signRevocationList(ca.crl(number, { revoked }));
      }
      await Promise.all(signers.map(signer => signer.close()));
    }
    names = await files();
    originals = new Map(
      await Promise.all(
        names.map(async name => [name, await readFile(file(name))] as const),
      ),
    );
    copy = await mkdtemp(join(tmpdir(), 'ca-test-'));
    await cp(ca.folder, copy, { recursive: true });
  });

  afterEach(async () => {
    await rm(copy, { recursive: true });
  });

  const original = (name: string) => originals.get(name) ?? Buffer.alloc(0);

  /** Verifies the log with a changed file. */
  async function verifyWith(name: string, content: Buffer) {
    await writeFile(join(copy, name), content);
    const verification = await verifyLog(copy);
    await writeFile(join(copy, name), original(name));
    return verification;
  }

  function linesOf(name: string): Buffer[] {
    return original(name)
      .toString()
      .trimEnd()
      .split('\n')
      .map(line => Buffer.from(`${line}\n`));
  }

  it('accepts logs that signers wrote', async () => {
    expect(await verifyLog(copy)).toEqual({
      files: 3,
      lines: 11,
      certificates: 3,
      issuers: [ca.issuer.id],
      incomplete: [],
    });
  });

  it('finds any changed byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 2 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (index, at, difference) => {
          const name = names[index];
          const content = Buffer.from(original(name));
          content[at % content.length] ^= difference;
          const { fault, incomplete } = await verifyWith(name, content);
          // Without its newline, the last line of a file is incomplete.
          expect(fault?.file ?? incomplete[0]).toBe(name);
          expect(
            at % content.length === content.length - 1 || fault,
          ).toBeTruthy();
        },
      ),
    );
  });

  it('finds any line that was removed, repeated or swapped', async () => {
    for (const name of names) {
      const lines = linesOf(name);
      for (const index of lines.keys()) {
        const isLast = name === names[2] && index === lines.length - 1;
        const without = lines.filter((_, other) => other !== index);
        const removed = await verifyWith(name, Buffer.concat(without));
        // A line cut off the end of the newest file can be detected only with
        // the portal's database.
        expect(removed.fault === undefined).toBe(isLast);

        const twice = [...lines.slice(0, index + 1), ...lines.slice(index)];
        const repeated = await verifyWith(name, Buffer.concat(twice));
        expect(repeated.fault).toMatchObject({ file: name, line: index + 2 });

        const exchanged = [...lines];
        exchanged[index] = lines[(index + 1) % lines.length];
        exchanged[(index + 1) % lines.length] = lines[index];
        const swapped = await verifyWith(name, Buffer.concat(exchanged));
        expect(swapped.fault).toBeDefined();
      }
    }
  });

  it('finds a file that is missing, renamed, or replaced by another file', async () => {
    for (const name of names.slice(0, 2)) {
      await rm(join(copy, name));
      const missing = await verifyLog(copy);
      expect(missing.fault).toMatchObject({
        file: name,
        message: expect.stringContaining('the line is missing'),
      });
      await copyFile(file(names[2]), join(copy, name));
      expect((await verifyLog(copy)).fault).toBeDefined();
      await writeFile(join(copy, name), original(name));
    }
    await rename(join(copy, names[2]), join(copy, 'renamed.jsonl'));
    expect((await verifyLog(copy)).fault).toMatchObject({
      file: 'renamed.jsonl',
      message: 'the file was renamed',
    });
  });

  it('finds a certificate of another CA', async () => {
    const other = await TestCa.create();
    try {
      const signer = await ca.open({
        logFolder: other.folder,
        issuers: [other.issuer],
      });
      await signer.signCertificate(
        await other.request({ issuerId: other.issuer.id }),
      );
      const log = await openLog();
      for await (const entry of signer.loggedCertificates()) {
        await log.append({
          kind: 'certificate',
          time: new Date(),
          request: await ca.request({ serialNumber: entry.serialNumber }),
          certificate: entry.certificate,
        });
      }
      await log.close();
    } finally {
      await other.remove();
    }
    expect((await verifyLog(ca.folder)).fault).toMatchObject({
      line: 2,
      message: expect.stringContaining('is not signed by CA'),
    });
  });

  it('finds a certificate that does not match its request, and a serial number that was used twice', async () => {
    const signer = await ca.open();
    const request = await ca.request();
    const certificate = await signer.signCertificate(request);
    const log = await openLog();
    const time = new Date();
    const append = (changes: Partial<typeof request>) =>
      log.append({
        kind: 'certificate',
        time,
        request: { ...request, ...changes },
        certificate,
      });
    // Two processes may sign the same request at the same time.
    await append({ requestedBy: 'user:default/other' });
    expect((await verifyLog(ca.folder)).fault).toBeUndefined();
    await append({ profile: 'other' });
    expect((await verifyLog(ca.folder)).fault?.message).toMatch(
      /was used for another certificate/,
    );
    await append({ username: 'bob' });
    await log.close();
  });

  it('rejects a folder that does not exist', async () => {
    await expect(verifyLog(join(copy, 'none'))).rejects.toThrow('ENOENT');
  });
});
