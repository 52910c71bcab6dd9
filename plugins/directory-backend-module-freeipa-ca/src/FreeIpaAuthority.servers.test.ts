import { keyIn, newRequest, serialOf } from './__testUtils__/newRequest';
import { FakeNetwork } from './__testUtils__/FakeNetwork';

jest.setTimeout(600_000); // long, for OpenSSL's processes on a busy machine

describe('FreeIpaAuthority with several servers', () => {
  let network: FakeNetwork;

  beforeAll(async () => {
    network = await FakeNetwork.start();
  });

  beforeEach(() => network.renew());

  afterAll(() => network.stop());

  describe('several servers', () => {
    const page = (status: number) =>
      ({
        kind: 'status',
        status,
        body: `<html><title>${status}</title></html>`,
        headers: { 'Content-Type': 'text/html; charset=utf-8' },
      }) as const;

    it.each([400, 403, 404, 413, 503])(
      'tries the next server when status %i means that nothing was executed',
      async status => {
        network.first.failNext('cert_request', page(status));
        const before = network.ca.issued.size;
        await network.authority.sign(newRequest());
        expect(network.second.log).toEqual(['login', 'cert_request']);
        expect(network.ca.issued.size).toBe(before + 1);
      },
    );

    it.each([
      ['cut', { kind: 'cut', executed: false } as const],
      ['status 500', page(500)],
      ['status 503', page(503)],
      ['status 400', page(400)],
      ['a response without a session', page(200)],
    ])('tries the next server when the login ends in %s', async (_, fault) => {
      network.first.failNext('login', fault);
      await network.authority.sign(newRequest());
      expect(network.second.log).toEqual(['login', 'cert_request']);
    });

    it.each([
      ['cut', { kind: 'cut', executed: false } as const],
      ['slow', { kind: 'hang', executed: false } as const],
      ['not JSON', page(200)],
      ['status 302', { ...page(302), headers: { Location: '/elsewhere' } }],
      ['status 502', page(502)],
      ['status 504', page(504)],
    ])('reads from the next server when a response is %s', async (_, fault) => {
      const issued = await network.authority.sign(newRequest());
      await network.renew({ requestTimeoutMs: 1000 });
      network.first.failNext('cert_show', fault);
      const found = await network.authority.get(serialOf(issued));
      expect(found?.certificate).toEqual(issued.certificate);
      expect(network.second.log).toEqual(['login', 'cert_show']);
    });

    it('tries an unavailable server last afterwards', async () => {
      network.first.failNext('login', page(503));
      await network.authority.get(1234n);
      await network.authority.get(1234n);
      expect(network.first.log).toEqual(['login']);
      expect(network.second.log).toEqual(['login', 'cert_show', 'cert_show']);
    });

    it('is not available when no server responds', async () => {
      network.first.failNext('login', page(503));
      network.second.failNext('login', page(502));
      await expect(network.authority.get(1234n)).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      const before = network.ca.issued.size;
      network.first.failNext('login', page(503));
      network.second.failNext('login', page(502));
      await expect(network.authority.sign(newRequest())).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      expect(network.ca.issued.size).toBe(before);
    });

    it('signs on the next server when the Dogtag of the first server is down', async () => {
      network.first.isDogtagDown = true;
      const request = newRequest();
      const before = network.ca.issued.size;
      const issued = await network.authority.sign(request);
      expect(keyIn(issued)).toEqual(request.publicKey);
      expect(network.first.log).toEqual(['login', 'cert_request']);
      expect(network.second.log).toEqual(['login', 'cert_request']);
      expect(network.ca.issued.size).toBe(before + 1);
    });

    it('reads from the next server when the Dogtag of the first server is down', async () => {
      const issued = await network.authority.sign(newRequest());
      network.first.isDogtagDown = true;
      const found = await network.authority.get(serialOf(issued));
      expect(found?.certificate).toEqual(issued.certificate);
      await expect(network.authority.get(1234n)).resolves.toBe(undefined);
    });

    it('is unavailable while Dogtag is down on all servers, and then signs for the same key', async () => {
      const request = newRequest();
      const before = network.ca.issued.size;
      network.first.isDogtagDown = true;
      network.second.isDogtagDown = true;
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(network.authority.sign(request)).rejects.toMatchObject({
          name: 'AuthorityUnavailableError',
        });
      }
      network.first.isDogtagDown = false;
      network.second.isDogtagDown = false;
      const issued = await network.authority.sign(request);
      expect(keyIn(issued)).toEqual(request.publicKey);
      expect(network.ca.issued.size).toBe(before + 1);
      expect(network.first.count('cert_find')).toBe(0);
      expect(network.second.count('cert_find')).toBe(0);
    });

    it('runs 8 lookups at a time, queues 32 and rejects others, except for revocations', async () => {
      const issued = await network.authority.sign(newRequest());
      let open = () => {};
      const isOpen = new Promise<void>(resolve => {
        open = resolve;
      });
      let allRun = () => {};
      const areAllRunning = new Promise<void>(resolve => {
        allRun = resolve;
      });
      let running = 0;
      let peak = 0;
      const respond = network.first.handle.bind(network.first);
      const handle = jest.spyOn(network.first, 'handle');
      handle.mockImplementation(async request => {
        running += 1;
        peak = Math.max(peak, running);
        if (running === 9) {
          allRun();
        }
        await isOpen;
        try {
          return await respond(request);
        } finally {
          running -= 1;
        }
      });
      const lookups = Array.from({ length: 50 }, () =>
        network.authority.get(serialOf(issued)),
      );
      const statuses = async (some: typeof lookups) =>
        (await Promise.allSettled(some)).map(({ status }) => status);
      await expect(lookups[40]).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      expect(await statuses(lookups.slice(40))).toEqual(
        Array(10).fill('rejected'),
      );
      const forRevocation = network.authority.get(serialOf(issued), {
        forRevocation: true,
      });
      await Promise.race([areAllRunning, forRevocation]);
      open();
      expect(await statuses(lookups.slice(0, 40))).toEqual(
        Array(40).fill('fulfilled'),
      );
      await expect(forRevocation).resolves.toBeDefined();
      // 8 lookups, and one for a revocation.
      expect(peak).toBe(9);
    });

    it('reports an HTML 400 as a possible alias', async () => {
      network.first.failNext('cert_show', page(400));
      network.second.failNext('cert_show', page(400));
      await expect(network.authority.get(1234n)).rejects.toMatchObject({
        name: 'AuthorityProtocolError',
      });
    });
  });
});
