import { newRequest } from './__testUtils__/newRequest';
import { FakeNetwork } from './__testUtils__/FakeNetwork';

jest.setTimeout(600_000); // long, for OpenSSL's processes on a busy machine

describe('FreeIpaAuthority and its sessions', () => {
  let network: FakeNetwork;

  beforeAll(async () => {
    network = await FakeNetwork.start();
  });

  beforeEach(() => network.renew());

  afterAll(() => network.stop());

  describe('sessions', () => {
    it('shares one login between concurrent calls', async () => {
      await Promise.all(
        Array.from({ length: 10 }, () => network.authority.get(1234n)),
      );
      expect(network.first.count('login')).toBe(1);
      network.first.expireSessions();
      await Promise.all(
        Array.from({ length: 10 }, () => network.authority.get(1234n)),
      );
      expect(network.first.count('login')).toBe(2);
    });

    it('logs in again after an empty 401, and signs once', async () => {
      await network.authority.get(1234n);
      network.first.expireSessions();
      const before = network.ca.issued.size;
      await network.authority.sign(newRequest());
      expect(network.first.log).toEqual([
        ...['login', 'cert_show', 'expired', 'login', 'cert_request'],
      ]);
      expect(network.ca.issued.size).toBe(before + 1);
    });

    it('stops retrying a server that forgets its sessions immediately', async () => {
      const forgotten = { kind: 'status', status: 401 } as const;
      network.first.failNext('cert_request', forgotten, forgotten);
      await network.authority.sign(newRequest());
      expect(network.first.count('login')).toBe(2);
      expect(network.second.count('cert_request')).toBe(1);
    });

    it.each(['account disabled', 'denied'])(
      'is unavailable when FreeIPA reports "%s" for its account',
      async reason => {
        await network.authority.get(1234n);
        network.first.rejection = reason;
        await expect(network.authority.get(1234n)).rejects.toMatchObject({
          name: 'AuthorityUnavailableError',
        });
        expect(network.second.log).toEqual([]);
      },
    );
  });

  describe('passwords', () => {
    it.each([
      'invalid-password',
      'password-expired',
      'krbprincipal-expired',
      'user-locked',
      'denied',
    ])('logs why the login was refused: %s', async reason => {
      network.first.rejection = reason;
      await expect(network.authority.get(1234n)).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      expect(network.log).toContain(reason);
    });

    it('does not send a rejected password again', async () => {
      await network.setPassword('wrong');
      for (let attempt = 0; attempt < 5; attempt += 1) {
        await expect(network.authority.get(1234n)).rejects.toMatchObject({
          name: 'AuthorityUnavailableError',
        });
      }
      expect(network.first.count('login') + network.second.count('login')).toBe(
        1,
      );
      await network.setPassword(network.first.password);
      await expect(network.authority.get(1234n)).resolves.toBe(undefined);
    });

    it('never logs a password, a session or a CSR', async () => {
      await network.setPassword('wrong & secret');
      await expect(network.authority.get(1234n)).rejects.toThrow();
      await network.setPassword(network.first.password);
      network.first.failNext('cert_request', { kind: 'cut', executed: true });
      const request = newRequest();
      await network.authority.sign(request);
      const cookie = network.first.lastRequest!.headers.get('cookie')!;
      const log = network.log;
      expect(log).toContain('Searching for the certificate');
      for (const secret of [
        network.first.password,
        'wrong & secret',
        'wrong+%26+secret',
        cookie.split('=').at(-1)!,
        request.csr.toString('base64').slice(0, 40),
      ]) {
        expect(log).not.toContain(secret);
      }
    });
  });
});
