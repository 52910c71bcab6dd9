import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FreeIpaAuthority } from './FreeIpaAuthority';
import type { FreeIpaConfig } from './FreeIpaConfig';
import type { Fault } from './__testUtils__/Fault';
import { FakeHttpsServer } from './__testUtils__/FakeHttpsServer';
import { keyIn, newRequest, serialOf } from './__testUtils__/newRequest';
import { FakeCa } from './__testUtils__/FakeCa';
import {
  startAuthority,
  type StartedAuthority,
} from './__testUtils__/startAuthority';
import type { TestClock } from './__testUtils__/TestClock';

// Slow: the servers use real sockets and close them. Deadlines follow a test
// clock.
jest.setTimeout(600_000);

const HTML = '<html><title>Proxy Error</title></html>';

/** Ways to lose a response; `executed` is whether FreeIPA signed the request. */
const LOSSES: [string, (executed: boolean) => Fault][] = [
  ['cut', executed => ({ kind: 'cut', executed })],
  ['cut in the middle', executed => ({ kind: 'half', executed })],
  ['too slow', executed => ({ kind: 'hang', executed })],
  [
    'a status 502',
    executed => ({ kind: 'status', status: 502, body: HTML, executed }),
  ],
  [
    'a status 504',
    executed => ({ kind: 'status', status: 504, body: HTML, executed }),
  ],
  [
    'an HTML page instead of JSON',
    executed => ({ kind: 'status', status: 200, body: HTML, executed }),
  ],
  [
    'an error of Dogtag after signing',
    executed => ({
      kind: 'error',
      code: 4301,
      message:
        'Certificate operation cannot be completed: Request failed with status 503: Non-2xx response from CA REST API: 503.  (503)',
      executed,
    }),
  ],
  [
    'an error of FreeIPA when it cannot reach Dogtag',
    executed => ({
      kind: 'error',
      code: 4301,
      message:
        "Certificate operation cannot be completed: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
      executed,
    }),
  ],
];

describe('FreeIpaAuthority and lost responses', () => {
  let ca: FakeCa;
  let first: FakeHttpsServer;
  let second: FakeHttpsServer;
  /** Searches for a lost certificate for one minute. */
  let patient: FreeIpaAuthority;
  /** Ends the search early, for requests that were not executed. */
  let brief: FreeIpaAuthority;
  let patientClock: TestClock;
  const started = new Array<StartedAuthority>();

  const start = async (
    durations: Pick<FreeIpaConfig, 'requestTimeoutMs' | 'lostResponseSearchMs'>,
  ) => {
    const authority = await startAuthority({
      servers: [first.origin, second.origin],
      caFile: ca.caFile,
      password: first.freeIpa.password,
      ...durations,
    });
    started.push(authority);
    return authority;
  };

  beforeAll(async () => {
    ca = await FakeCa.create();
  });

  beforeEach(async () => {
    ca.issued.clear();
    first = await FakeHttpsServer.start({ ca });
    second = await FakeHttpsServer.start({ ca });
    for (const { freeIpa } of [first, second]) {
      freeIpa.onHang = () =>
        started.forEach(({ clock }) => clock.advanceToDeadline());
    }
    const requestTimeoutMs = 2000;
    const searching = await start({
      requestTimeoutMs,
      lostResponseSearchMs: 60_000,
    });
    patient = searching.authority;
    patientClock = searching.clock;
    const ending = await start({
      requestTimeoutMs,
      lostResponseSearchMs: 2000,
    });
    brief = ending.authority;
  });

  afterEach(async () => {
    await first.stop();
    await second.stop();
    await Promise.all(started.splice(0).map(({ remove }) => remove()));
  });

  afterAll(() => ca.remove());

  async function untilIssued(): Promise<void> {
    while (ca.issued.size === 0) {
      await sleep(10);
    }
  }

  /** Makes the next response hang; FreeIPA signs when `sign` is called. */
  function signLate(): { readonly sign: () => Promise<void> } {
    let carryOut = () => {};
    first.freeIpa.failNext('cert_request', {
      kind: 'hang',
      executed: true,
      at: new Promise(resolve => {
        carryOut = resolve;
      }),
    });
    return {
      sign: async () => {
        carryOut();
        await untilIssued();
      },
    };
  }

  /** Repeats a request as the gateway does after an unknown outcome. */
  const repeat = (authority: FreeIpaAuthority, request: SigningRequest) =>
    authority.sign({ ...request, attemptedAt: new Date() });

  /** Returns the number of signing requests on all servers. */
  const requests = () =>
    first.freeIpa.count('cert_request') + second.freeIpa.count('cert_request');

  it.each(LOSSES)(
    'finds the certificate when the response is %s',
    async (_, lose) => {
      const request = newRequest();
      first.freeIpa.failNext('cert_request', lose(true));
      const issued = await patient.sign(request);
      expect(keyIn(issued)).toEqual(request.publicKey);
      expect(issued.chain).toHaveLength(3);
      expect(requests()).toBe(1);
      expect(ca.issued.size).toBe(1);
    },
  );

  it.each(LOSSES)(
    'neither repeats nor refuses a request when the response is %s',
    async (_, lose) => {
      first.freeIpa.failNext('cert_request', lose(false));
      await expect(brief.sign(newRequest())).rejects.toMatchObject({
        name: 'OutcomeUnknownError',
      });
      expect(requests()).toBe(1);
      expect(first.freeIpa.count('cert_find')).toBeGreaterThan(0);
      expect(ca.issued.size).toBe(0);
    },
  );

  it('finds a certificate that is signed during the search', async () => {
    const request = newRequest();
    patientClock.onDelay = signLate().sign;
    const issued = await patient.sign(request);
    expect(keyIn(issued)).toEqual(request.publicKey);
    expect(first.freeIpa.count('cert_find')).toBe(2);
    expect(requests()).toBe(1);
  });

  it('reports an unknown outcome when FreeIPA is not available', async () => {
    first.freeIpa.failNext('cert_request', { kind: 'cut', executed: true });
    const down: Fault = { kind: 'status', status: 503 };
    first.freeIpa.failNext(
      'cert_find',
      ...Array.from({ length: 9 }, () => down),
    );
    second.freeIpa.failNext('login', ...Array.from({ length: 9 }, () => down));
    await expect(brief.sign(newRequest())).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    expect(requests()).toBe(1);
  });

  it('queries the next server when the first one is down', async () => {
    const request = newRequest();
    first.freeIpa.onHang = () => {};
    first.freeIpa.failNext('cert_request', { kind: 'hang', executed: true });
    const signing = patient.sign(request);
    await untilIssued();
    await first.stop();
    expect(keyIn(await signing)).toEqual(request.publicKey);
    expect(second.freeIpa.count('cert_find')).toBeGreaterThan(0);
    expect(requests()).toBe(1);
  });

  it('does not return a certificate of the same key that is on record', async () => {
    const request = newRequest();
    const older = await brief.sign(request);
    const again = { ...request, recorded: new Set([serialOf(older)]) };
    first.freeIpa.failNext('cert_request', { kind: 'cut', executed: false });
    await expect(brief.sign(again)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    first.freeIpa.failNext('cert_request', { kind: 'cut', executed: true });
    const newer = await repeat(brief, again);
    expect(newer.certificate).not.toEqual(older.certificate);
    expect(keyIn(newer)).toEqual(request.publicKey);
  });

  it('does not return a revoked certificate', async () => {
    const request = newRequest();
    const revoked = serialOf(await brief.sign(request));
    ca.issued.get(revoked)!.revocationReason = 0;
    expect(serialOf(await repeat(brief, request))).not.toBe(revoked);
    expect(requests()).toBe(2);
  });

  it('reports an unknown outcome when there are two certificates', async () => {
    const request = newRequest();
    await ca.issue({ csr: request.csr, username: 'alice' });
    first.freeIpa.failNext('cert_request', { kind: 'cut', executed: true });
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    expect(requests()).toBe(1);
  });

  it('searches for the certificate before it repeats a request whose response was lost', async () => {
    const request = newRequest();
    const { sign } = signLate();
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    await sign(); // FreeIPA signed late
    // The gateway has been restarted since.
    const { authority: restarted } = await start({
      requestTimeoutMs: 2000,
      lostResponseSearchMs: 2000,
    });
    const issued = await repeat(restarted, request);
    expect(keyIn(issued)).toEqual(request.publicKey);
    expect(requests()).toBe(1);
    expect(ca.issued.size).toBe(1);
  });

  it('sends a repeated request when the first one did not result in a certificate', async () => {
    const request = newRequest();
    first.freeIpa.failNext('cert_request', { kind: 'cut', executed: false });
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    const looks = first.freeIpa.count('cert_find');
    await repeat(brief, request);
    expect(first.freeIpa.count('cert_find')).toBe(looks + 1);
    expect(requests()).toBe(2);
    expect(ca.issued.size).toBe(1);
  });

  it('finds the certificate of a repeated request that only one server has', async () => {
    const request = newRequest();
    const { sign } = signLate();
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    await sign();
    const empty = { error: null, result: { result: [] } };
    second.freeIpa.failNext('cert_find', {
      kind: 'status',
      status: 200,
      body: JSON.stringify(empty),
    });
    const issued = await repeat(brief, request);
    expect(keyIn(issued)).toEqual(request.publicKey);
    expect(second.freeIpa.count('cert_find')).toBeGreaterThan(0);
    expect(requests()).toBe(1);
  });

  it('does not send a repeated request while the search fails', async () => {
    const request = newRequest();
    first.freeIpa.failNext('cert_request', { kind: 'cut', executed: true });
    const down: Fault = { kind: 'error', code: 903, message: 'internal error' };
    const always = Array.from({ length: 9 }, () => down);
    first.freeIpa.failNext('cert_find', ...always);
    second.freeIpa.failNext('cert_find', ...always);
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    await expect(repeat(brief, request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    expect(requests()).toBe(1);
  });

  describe('FreeIpaAuthority when FreeIPA does not respond', () => {
    const hang: Fault = { kind: 'hang', executed: false };

    it('ends the search after lostResponseSearch, not after requestTimeout', async () => {
      const { authority } = await start({
        requestTimeoutMs: 3000,
        lostResponseSearchMs: 1000,
      });
      await authority.get(1234n); // logs in
      const request = newRequest();
      first.freeIpa.failNext('cert_request', hang);
      first.freeIpa.failNext('cert_find', hang);
      await expect(authority.sign(request)).rejects.toMatchObject({
        name: 'OutcomeUnknownError',
      });
      // One server may have signed and not respond.
      second.freeIpa.failNext('cert_find', hang);
      await expect(repeat(authority, request)).rejects.toMatchObject({
        name: 'OutcomeUnknownError',
      });
      expect(requests()).toBe(1);
      while (first.aborted < 2) {
        await sleep(10); // waits until the server detects the abort
      }
      expect(first.freeIpa.log).toEqual([
        'login',
        'cert_show',
        'cert_request',
        'cert_find',
        'cert_find',
      ]);
      const issued = await repeat(authority, request);
      expect(keyIn(issued)).toEqual(request.publicKey);
      expect(ca.issued.size).toBe(1);
    });

    it('finds the certificate when another server hangs', async () => {
      const request = newRequest();
      first.freeIpa.failNext('cert_request', { kind: 'cut', executed: true });
      second.freeIpa.failNext('cert_find', hang);
      const issued = await brief.sign(request);
      expect(keyIn(issued)).toEqual(request.publicKey);
      expect(requests()).toBe(1);
    });

    it('ends the search after lostResponseSearch when a login hangs', async () => {
      const { authority } = await start({
        requestTimeoutMs: 600_000,
        lostResponseSearchMs: 500,
      });
      await authority.get(1234n); // logs in
      first.freeIpa.failNext('cert_request', {
        kind: 'cut',
        executed: false,
      });
      first.freeIpa.failNext('cert_find', { kind: 'status', status: 401 });
      first.freeIpa.failNext('login', hang);
      await expect(authority.sign(newRequest())).rejects.toMatchObject({
        name: 'OutcomeUnknownError',
      });
      expect(first.freeIpa.log.slice(2)).toEqual([
        'cert_request',
        'cert_find',
        'login',
      ]);
    });

    it('finds the certificate when the first call after a restart is slow', async () => {
      await patient.get(1234n); // logs in
      const request = newRequest();
      first.freeIpa.restart(async () => patientClock.advance(2000));
      patientClock.onDelay = untilIssued;
      const issued = await patient.sign(request);
      expect(keyIn(issued)).toEqual(request.publicKey);
      expect(
        first.freeIpa.count('cert_find') + second.freeIpa.count('cert_find'),
      ).toBeGreaterThan(0);
      expect(requests()).toBe(1);
      expect(ca.issued.size).toBe(1);
    });

    it('waits for the first call after a restart within requestTimeout', async () => {
      const { authority, clock } = await start({
        requestTimeoutMs: 30_000,
        lostResponseSearchMs: 1000,
      });
      await authority.get(1234n); // logs in
      first.freeIpa.restart(async () => clock.advance(1500));
      await authority.sign(newRequest());
      expect(first.freeIpa.count('cert_find')).toBe(0);
      expect(second.freeIpa.log).toEqual([]);
      expect(requests()).toBe(1);
    });
  });

  it.each([
    ['no certificate', { certificate: undefined }],
    ['a certificate that cannot be read', { certificate: 'AAAA' }],
  ])('finds the certificate when the response has %s', async (_, change) => {
    const request = newRequest();
    first.freeIpa.failNext('cert_request', { kind: 'change', change });
    const issued = await patient.sign(request);
    expect(keyIn(issued)).toEqual(request.publicKey);
    expect(requests()).toBe(1);
  });

  it('never returns a certificate for another key', async () => {
    const other = await patient.sign(newRequest());
    const change = {
      certificate: other.certificate.der.toString('base64'),
      serial_number: undefined,
    };
    first.freeIpa.failNext('cert_request', { kind: 'change', change });
    const request = newRequest();
    const issued = await patient.sign(request);
    expect(keyIn(issued)).toEqual(request.publicKey);
  });

  it('tries the next server when there is no connection', async () => {
    await patient.get(1234n);
    await first.stop();
    await patient.sign(newRequest());
    expect(requests()).toBe(1);
    expect(second.freeIpa.count('cert_request')).toBe(1);
  });

  it('trusts only servers with a certificate of caFile', async () => {
    const strangers = await FakeCa.create();
    const stranger = await FakeHttpsServer.start({ ca: strangers });
    const { authority, logger, remove } = await startAuthority({
      servers: [stranger.origin],
      caFile: ca.caFile,
      password: stranger.freeIpa.password,
    });
    await expect(authority.sign(newRequest())).rejects.toMatchObject({
      name: 'AuthorityUnavailableError',
    });
    expect(stranger.freeIpa.log).toEqual([]);
    expect(logger.lines.join()).toContain('certificate');
    await stranger.stop();
    await strangers.remove();
    await remove();
  });
});
