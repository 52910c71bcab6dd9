import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { AcceptorFixture } from './__testUtils__/AcceptorFixture';

jest.setTimeout(600_000);

const unavailable = {
  outcome: 'unavailable',
  message: 'This server cannot check Kerberos tickets at the moment.',
};

describe('SpnegoAcceptor with an unusable keytab', () => {
  let fixture: AcceptorFixture;

  beforeAll(async () => {
    fixture = await AcceptorFixture.start();
  });

  beforeEach(async () => {
    await fixture.installKeytab();
  });

  afterEach(async () => {
    await fixture.stopProcesses();
  });

  afterAll(async () => {
    await fixture.stop();
  });

  it('accepts tickets once the keytab exists, and logs each change once', async () => {
    await rm(fixture.keytab);
    const acceptor = await fixture.startAcceptor();
    const accept = async () =>
      acceptor.accept(`Negotiate ${await fixture.token()}`);
    expect(await accept()).toEqual(unavailable);
    expect(await accept()).toEqual(unavailable);
    expect(acceptor.log).toEqual([
      expect.stringMatching(
        /^warn The keytab \/.*server\.keytab \(kerberos\.keytab\) does not exist: provide one /,
      ),
    ]);

    await fixture.installKeytab();
    expect(await accept()).toMatchObject({ outcome: 'accepted' });
    expect(await accept()).toMatchObject({ outcome: 'accepted' });
    expect(acceptor.log.slice(1)).toEqual([
      'info Kerberos tickets are accepted again.',
    ]);
  });

  it('refuses tickets while other users can read the keytab', async () => {
    const acceptor = await fixture.startAcceptor();
    expect(await acceptor.outcomeOf(await fixture.token())).toBe('accepted');
    await chmod(fixture.keytab, 0o644);
    expect(await acceptor.outcomeOf(await fixture.token())).toBe('unavailable');
    expect(acceptor.log.slice(1)).toEqual([
      expect.stringMatching(
        /^warn kerberos\.keytab: \/.* is accessible to other users \(mode 0644\): run chmod 600/,
      ),
    ]);

    await chmod(fixture.keytab, 0o600);
    expect(await acceptor.outcomeOf(await fixture.token())).toBe('accepted');
  });

  const spoilers: Record<string, () => Promise<void>> = {
    'does not exist': () => rm(fixture.keytab),
    'cannot be read (it is not a regular file)': async () => {
      await rm(fixture.keytab);
      await mkdir(fixture.keytab);
    },
    'is empty': () => fixture.installKeytab(Buffer.alloc(0)),
    'is not a keytab file': () => fixture.installKeytab(Buffer.alloc(200)),
    'contains no readable key': async () =>
      fixture.installKeytab(
        (await readFile(fixture.realm.keytab)).subarray(0, 40),
      ),
  };

  it.each(Object.entries(spoilers))(
    'is unavailable when the keytab %s',
    async (problem, spoil) => {
      const acceptor = await fixture.startAcceptor();
      await spoil();
      for (const mechanism of ['spnego', 'krb5'] as const) {
        const token = await fixture.token({ mechanism });
        expect(await acceptor.accept(`Negotiate ${token}`)).toEqual(
          unavailable,
        );
      }
      // Without a key, even a malformed token is not recognized.
      expect(await acceptor.outcomeOf(randomBytes(64))).toBe('unavailable');
      expect(await acceptor.accept(undefined)).toMatchObject({
        reason: 'no_credentials',
      });
      expect(acceptor.log.slice(1)).toEqual([
        expect.stringContaining(`(kerberos.keytab) ${problem}: `),
      ]);

      await fixture.installKeytab();
      expect(await acceptor.outcomeOf(await fixture.token())).toBe('accepted');
    },
  );

  it('logs the keys of the keytab at start', async () => {
    const acceptor = await fixture.startAcceptor();
    expect(acceptor.log).toEqual([
      expect.stringMatching(
        /^info Accepting Kerberos tickets for HTTP\/localhost@EXAMPLE\.TEST \(key version \d+\)/,
      ),
    ]);
    await fixture.installKeytab(await fixture.renamedKeytab('HTTP', 'host'));
    const useless = await fixture.startAcceptor();
    expect(useless.log).toEqual([
      expect.stringMatching(
        /^warn The keytab \/.* has no key of an HTTP\/ principal/,
      ),
    ]);
  });

  it('is unavailable while the replay cache cannot be written', async () => {
    const acceptor = await fixture.startAcceptor();
    await rm(fixture.replayCache, { force: true });
    await mkdir(fixture.replayCache);
    expect(await acceptor.outcomeOf(await fixture.token())).toBe('unavailable');
    expect(acceptor.log.at(-1)).toContain(fixture.replayCache);

    await rm(fixture.replayCache, { recursive: true });
    expect(await acceptor.outcomeOf(await fixture.token())).toBe('accepted');
  });

  // Must be the last test: alice's ticket for the old key is cached.
  it('accepts tickets for every key in the file, without a restart', async () => {
    const acceptor = await fixture.startAcceptor();
    const oldTicket = await fixture.realm.ticket('alice');
    const newTicket = await fixture.realm.ticket('bob');
    const resultFor = async (ticket: string) =>
      acceptor.outcomeOf(await fixture.token({ ticket }));
    // Caches a service ticket for the old key.
    expect(await resultFor(oldTicket)).toBe('accepted');

    await fixture.realm.rotateServiceKey();
    // The KDC issues tickets for the new key before the key is in the file.
    expect(await resultFor(newTicket)).toBe('unknown_service_key');
    await fixture.installKeytab();
    expect(await resultFor(newTicket)).toBe('accepted');
    expect(await resultFor(oldTicket)).toBe('accepted');

    await fixture.realm.removeOldServiceKeys();
    await fixture.installKeytab();
    expect(await resultFor(newTicket)).toBe('accepted');
    expect(await resultFor(oldTicket)).toBe('unknown_service_key');
  });
});
