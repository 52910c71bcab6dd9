import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import {
  type SignCertificateRequest,
  type CertificateSigner,
  type LoggedCertificate,
  SignerLimitError,
  SignerRefusalError,
  SignerUnavailableError,
} from '../CertificateSigner';
import { MAX_LINE_BYTES, writeLine } from './messages';
import { SignerServer } from './SignerServer';
import { SocketSigner } from './SocketSigner';

const issuerId = 'a'.repeat(64);
const request: SignCertificateRequest = {
  issuerId,
  serialNumber: 2n ** 130n,
  profile: 'userCerts',
  username: 'zoë',
  csr: Buffer.from('csr'),
  alternativeNames: {
    emails: ['zoe@example.test'],
    userPrincipalNames: [],
    kerberosPrincipalNames: [],
  },
  notBefore: new Date(1_700_000_000_000),
  notAfter: new Date(1_800_000_000_000),
  requestedBy: 'zoë',
};
const list = {
  issuerId,
  number: 7n,
  thisUpdate: request.notBefore,
  nextUpdate: request.notAfter,
  revoked: [
    { serialNumber: 1n, revokedAt: request.notBefore },
    {
      serialNumber: 2n,
      revokedAt: request.notBefore,
      reason: 'keyCompromise' as const,
    },
  ],
};

/** Resolves when {@link Gate.open} is called. */
class Gate {
  open: () => void = () => {};
  readonly opened = new Promise<void>(resolve => {
    this.open = resolve;
  });
}

/** Records calls and returns values that depend on them. */
class TestSigner implements CertificateSigner {
  readonly calls: unknown[] = [];
  readonly entries: LoggedCertificate[] = [];
  error: Error | undefined;
  /** Calls wait until it is open. */
  gate: Gate | undefined;
  /** How many entries of the log were read. */
  entriesRead = 0;

  async describe() {
    await this.#called('describe');
    const chain = [Buffer.from('ca'), Buffer.from('root')];
    return { issuers: [{ id: issuerId, chain, crlNumber: 3n }] };
  }

  async signCertificate(value: SignCertificateRequest) {
    await this.#called(value);
    return Buffer.from(`certificate ${value.serialNumber}`);
  }

  async signRevocationList(value: unknown) {
    await this.#called(value);
    return Buffer.from('list');
  }

  async blockKey(value: unknown) {
    await this.#called(value);
  }

  async *loggedCertificates() {
    for (const entry of this.entries) {
      this.entriesRead += 1;
      yield entry;
    }
    if (this.error) {
      throw this.error;
    }
  }

  async close() {}

  async #called(value: unknown): Promise<void> {
    this.calls.push(value);
    await this.gate?.opened;
    if (this.error) {
      throw this.error;
    }
  }
}

let folder: string;
let path: string;
let signer: TestSigner;
let lines: string[];
let server: SignerServer | undefined;
let client: SocketSigner;

async function listen(): Promise<void> {
  server = await SignerServer.listen({
    signer,
    path,
    log: line => lines.push(line),
  });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'directory-ca-'));
  path = join(folder, 'signer.sock');
  signer = new TestSigner();
  lines = [];
  client = new SocketSigner({ path });
  await listen();
});

afterEach(async () => {
  await client.close();
  await server?.close();
  await rm(folder, { recursive: true });
});

describe('SocketSigner', () => {
  it('calls every method of the signer', async () => {
    await expect(client.describe()).resolves.toEqual({
      issuers: [
        {
          id: issuerId,
          chain: [Buffer.from('ca'), Buffer.from('root')],
          crlNumber: 3n,
        },
      ],
    });
    const certificate = await client.signCertificate(request);
    expect(certificate.toString()).toBe(`certificate ${request.serialNumber}`);
    const signed = await client.signRevocationList(list);
    expect(signed.toString()).toBe('list');
    await client.blockKey({ publicKeySha256: issuerId });
    expect(signer.calls).toEqual([
      'describe',
      request,
      list,
      { publicKeySha256: issuerId },
    ]);
  });

  it('sends many concurrent requests over one connection', async () => {
    const serialNumbers = Array.from({ length: 500 }, (_, n) => BigInt(n + 1));
    const certificates = await Promise.all(
      serialNumbers.map(serialNumber =>
        client.signCertificate({ ...request, serialNumber }),
      ),
    );
    expect(certificates.map(String)).toEqual(
      serialNumbers.map(number => `certificate ${number}`),
    );
    expect(lines).toEqual(['connection 1: opened']);
  });

  it('returns a SignerLimitError when the rate limit rejects a request', async () => {
    signer.error = new SignerLimitError('More than 5 certificates');
    const refused = client.signCertificate(request);
    await expect(refused).rejects.toBeInstanceOf(SignerLimitError);
    await expect(refused).rejects.toThrow('More than 5 certificates');
  });

  it('returns refusals with their message, and other errors without', async () => {
    signer.error = new SignerRefusalError('The key is blocked.');
    await expect(client.signCertificate(request)).rejects.toEqual(
      new SignerRefusalError('The key is blocked.'),
    );
    for (const error of [
      new SignerUnavailableError('token removed: slot 7'),
      new TypeError('defect at slot 7'),
    ]) {
      signer.error = error;
      const rejection = await client.signCertificate(request).catch(String);
      expect(rejection).toMatch(/SignerUnavailableError: .*not available/);
      expect(rejection).not.toContain('slot 7');
    }
    expect(lines).toEqual([
      'connection 1: opened',
      'not available: token removed: slot 7',
      'not available: defect at slot 7',
    ]);
  });

  it('refuses requests that cannot be sent', async () => {
    for (const change of [
      { username: 'a'.repeat(2000) },
      { serialNumber: -1n },
      { notAfter: new Date(NaN) },
      { csr: Buffer.alloc(MAX_LINE_BYTES) },
    ]) {
      await expect(
        client.signCertificate({ ...request, ...change }),
      ).rejects.toThrow(SignerRefusalError);
    }
    expect(signer.calls).toEqual([]);
  });

  it('signs lists of 50,000 revoked certificates', async () => {
    const revoked = Array.from({ length: 50_000 }, (_, n) => ({
      serialNumber: 2n ** 126n + BigInt(n),
      revokedAt: request.notBefore,
      reason: 'cessationOfOperation' as const,
    }));
    await client.signRevocationList({ ...list, revoked });
    expect(signer.calls).toEqual([{ ...list, revoked }]);
  });

  it('reads the log only as fast as the caller', async () => {
    const entry: LoggedCertificate = {
      issuerId,
      serialNumber: 5n,
      username: 'zoë',
      profile: 'userCerts',
      requestedBy: 'zoë',
      signedAt: new Date(1_700_000_000_000),
      certificate: Buffer.alloc(50_000, 'a'),
      revocation: undefined,
    };
    const revocation = {
      revokedAt: new Date(1_700_000_000_000),
      reason: 'keyCompromise' as const,
    };
    signer.entries.push({ ...entry, revocation });
    signer.entries.push(...Array<LoggedCertificate>(60).fill(entry));
    const read: LoggedCertificate[] = [];
    for await (const item of client.loggedCertificates()) {
      read.push(item);
      if (read.length === 2) {
        break;
      }
    }
    expect(read).toEqual([{ ...entry, revocation }, entry]);
    expect(signer.entriesRead).toBeLessThan(60);

    let count = 0;
    for await (const item of client.loggedCertificates()) {
      count += item.certificate.length;
    }
    expect(count).toBe(61 * 50_000);

    signer.error = new SignerUnavailableError('unreadable');
    const readToEnd = async () => {
      for await (const _ of client.loggedCertificates());
    };
    await expect(readToEnd()).rejects.toThrow(SignerUnavailableError);
  });

  it('is unavailable while the signing process does not run, and recovers', async () => {
    await server?.close();
    const all = [
      () => client.describe(),
      () => client.signCertificate(request),
      () => client.loggedCertificates().next(),
    ];
    for (const call of all) {
      await expect(call()).rejects.toThrow(SignerUnavailableError);
    }
    await listen();
    for (const call of all) {
      await call();
    }
  });

  it('is unavailable after it is closed', async () => {
    signer.gate = new Gate();
    const inFlight = client.signCertificate(request);
    await client.close();
    await expect(inFlight).rejects.toThrow(SignerUnavailableError);
    await expect(client.describe()).rejects.toThrow('The signer is closed');
    signer.gate.open();
  });

  describe('when the process is replaced by another process', () => {
    let other: Server;
    let received: string[];
    let onRequest: (line: string, socket: Socket) => void;
    const sockets = new Set<Socket>();

    beforeEach(async () => {
      await server?.close();
      received = [];
      other = createServer(socket => {
        sockets.add(socket);
        createInterface({ input: socket }).on('line', line => {
          received.push(JSON.parse(line).method);
          onRequest(line, socket);
        });
      });
      other.listen(path);
      await once(other, 'listening');
      server = undefined;
    });

    afterEach(async () => {
      other.close();
      sockets.forEach(socket => socket.destroy());
      await once(other, 'close');
    });

    it('retries a request in flight once if a retry is safe', async () => {
      onRequest = (_, socket) => socket.destroy();
      await expect(client.signCertificate(request)).rejects.toThrow(
        SignerUnavailableError,
      );
      await expect(client.signRevocationList(list)).rejects.toThrow(
        SignerUnavailableError,
      );
      expect(received).toEqual([
        'signCertificate',
        'signCertificate',
        'signRevocationList',
      ]);

      onRequest = (_, socket) => {
        onRequest = (again, next) => {
          const { id } = JSON.parse(again);
          next.write(writeLine({ id, result: 'YQ==' }));
        };
        socket.destroy();
      };
      await expect(client.signCertificate(request)).resolves.toEqual(
        Buffer.from('a'),
      );
    });

    it('fails after the timeout, while another client gets a response', async () => {
      const impatient = new SocketSigner({ path, timeoutMs: 50 });
      onRequest = () => {};
      await expect(impatient.signCertificate(request)).rejects.toThrow(
        SignerUnavailableError,
      );
      await expect(impatient.loggedCertificates().next()).rejects.toThrow(
        SignerUnavailableError,
      );
      onRequest = (line, socket) =>
        socket.write(writeLine({ id: JSON.parse(line).id, result: {} }));
      const patient = new SocketSigner({ path });
      await patient.blockKey({ publicKeySha256: issuerId });
      await Promise.all([impatient.close(), patient.close()]);
    });

    it.each([
      ['not JSON', () => 'x\n'],
      ['another result', (id: number) => writeLine({ id, result: 1 })],
      ['neither result nor error', (id: number) => writeLine({ id })],
      ['a list', () => '[]\n'],
    ])('is unavailable when a response is %s', async (_, respond) => {
      onRequest = (line, socket) => socket.write(respond(JSON.parse(line).id));
      await expect(client.signCertificate(request)).rejects.toThrow(
        SignerUnavailableError,
      );
      await expect(client.loggedCertificates().next()).rejects.toThrow(
        SignerUnavailableError,
      );
    });
  });
});

describe('SignerServer', () => {
  it('creates a socket of mode 0660 and removes it', async () => {
    const { mode } = await stat(path);
    expect((mode & 0o777).toString(8)).toBe('660');
    await server?.close();
    server = undefined;
    await expect(readdir(folder)).resolves.toEqual([]);
  });

  it('does not replace a live socket or another file, or use a folder open to other users', async () => {
    const options = { signer, path, log: () => {} };
    await expect(SignerServer.listen(options)).rejects.toThrow(
      `Another process listens on ${path}`,
    );
    await client.describe();
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(
      SignerServer.listen({ ...options, path: file }),
    ).rejects.toThrow(`${file} exists and is not a socket`);
    for (const mode of [0o755, 0o770, 0o701]) {
      await chmod(folder, mode);
      await expect(
        SignerServer.listen({ ...options, path: join(folder, 'new') }),
      ).rejects.toThrow(/accessible to other users \(mode 0\d+\)/);
    }
  });

  it('finishes the requests in flight when it closes', async () => {
    signer.gate = new Gate();
    const inFlight = [client.signCertificate(request), client.describe()];
    while (signer.calls.length < 2) {
      await new Promise(setImmediate);
    }
    const closed = server?.close();
    server = undefined;
    signer.gate.open();
    await Promise.all(inFlight);
    await closed;
    expect(lines.at(-1)).toBe(
      'connection 1: closed; requests: 2 served, 0 refused, 0 unavailable',
    );
  });

  it('responds to a client that has closed its side', async () => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.end(writeLine({ id: 1, method: 'describe', params: {} }));
    const chunks = await socket.toArray();
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
      id: 1,
      result: { issuers: [{ crlNumber: '3' }] },
    });
  });

  it.each(['nothing', '{"id":1}', `${'a'.repeat(MAX_LINE_BYTES + 1)}`])(
    'closes the connection after %.20s',
    async line => {
      const socket = connect(path).on('error', () => {});
      socket.end(`${line}\n`);
      await once(socket.resume(), 'close');
      while (lines.length < 3) {
        await new Promise(setImmediate);
      }
      expect(lines[1]).toMatch(/^connection 1: closing: a line is /);
      await client.describe();
    },
  );

  it('refuses unknown methods and other parameters', async () => {
    const socket = connect(path);
    socket.write(writeLine({ id: 1, method: 'sign', params: {} }));
    socket.write(writeLine({ id: 2, method: 'toString', params: {} }));
    socket.end(writeLine({ id: 3, method: 'blockKey', params: { key: 1 } }));
    const chunks = await socket.toArray();
    const messages = Buffer.concat(chunks).toString().trim().split('\n');
    expect(messages.map(message => JSON.parse(message).error.kind)).toEqual([
      'refused',
      'refused',
      'refused',
    ]);
  });

  it('stops reading while a client has too many requests in flight', async () => {
    signer.gate = new Gate();
    const socket = connect(path);
    const line = writeLine({ id: 1, method: 'describe', params: {} });
    socket.write(line.repeat(1000));
    await client.loggedCertificates().next();
    while (signer.calls.length < 64) {
      await new Promise(setImmediate);
    }
    await client.loggedCertificates().next();
    expect(signer.calls).toHaveLength(64);
    // Another client is not affected.
    void client.describe().catch(() => {});
    while (signer.calls.length < 65) {
      await new Promise(setImmediate);
    }
    // The client reads nothing, so that the responses stay in flight.
    signer.gate.open();
    socket.destroy();
  });

  it('limits the number of connections', async () => {
    const sockets = Array.from({ length: 20 }, () =>
      connect(path).on('error', () => {}),
    );
    const dropped = sockets.map(socket => once(socket.resume(), 'close'));
    await Promise.any(dropped);
    await Promise.all(sockets.map(socket => socket.destroy()));
    expect(lines).toContain('refused a connection: 16 connections are open');
    await Promise.all(dropped);
    while (lines.filter(line => line.includes('closed')).length < 16) {
      await new Promise(setImmediate);
    }
    await client.describe();
  });

  it('survives any input', async () => {
    const message = fc.oneof(
      fc.json(),
      fc
        .record({
          id: fc.nat(),
          method: fc.constantFrom(
            'describe',
            'signCertificate',
            'signRevocationList',
            'blockKey',
            'loggedCertificates',
            '__proto__',
          ),
          params: fc.oneof(
            fc.jsonValue(),
            fc.constant({}),
            fc.record({ issuerId: fc.jsonValue(), revoked: fc.jsonValue() }),
          ),
        })
        .map(value => JSON.stringify(value)),
      fc.uint8Array().map(octets => Buffer.from(octets).toString('latin1')),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(message),
        fc.boolean(),
        async (messages, reads) => {
          const socket = connect(path).on('error', () => {});
          await once(socket, 'connect');
          socket.write(messages.map(line => `${line}\n`).join(''));
          if (reads) {
            socket.resume();
            socket.end();
          } else {
            socket.destroy();
          }
          await once(socket, 'close');
        },
      ),
    );
    await expect(client.describe()).resolves.toBeDefined();
  });
});
