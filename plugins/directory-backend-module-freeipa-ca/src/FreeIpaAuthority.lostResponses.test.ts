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

/** Real connections that are really cut; deadlines follow a test clock. */
jest.setTimeout(600_000);

const HTML = '<html><title>Proxy Error</title></html>';

/** Ways to lose an answer; `carriedOut` says whether FreeIPA has signed. */
const LOSSES: [string, (carriedOut: boolean) => Fault][] = [
  ['cut', carriedOut => ({ kind: 'cut', carriedOut })],
  ['cut in the middle', carriedOut => ({ kind: 'half', carriedOut })],
  ['too slow', carriedOut => ({ kind: 'hang', carriedOut })],
  [
    'a status 502',
    carriedOut => ({ kind: 'status', status: 502, body: HTML, carriedOut }),
  ],
  [
    'a status 504',
    carriedOut => ({ kind: 'status', status: 504, body: HTML, carriedOut }),
  ],
  [
    'a page in place of JSON',
    carriedOut => ({ kind: 'status', status: 200, body: HTML, carriedOut }),
  ],
  [
    'an error of Dogtag after it signed',
    carriedOut => ({
      kind: 'error',
      code: 4301,
      message:
        'Certificate operation cannot be completed: Request failed with status 503: Non-2xx response from CA REST API: 503.  (503)',
      carriedOut,
    }),
  ],
  [
    'Dogtag out of reach of FreeIPA',
    carriedOut => ({
      kind: 'error',
      code: 4301,
      message:
        "Certificate operation cannot be completed: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
      carriedOut,
    }),
  ],
];

describe('FreeIpaAuthority and lost answers', () => {
  let ca: FakeCa;
  let first: FakeHttpsServer;
  let second: FakeHttpsServer;
  /** Searches for a lost certificate for a minute. */
  let patient: FreeIpaAuthority;
  /** Ends the search soon, for requests that were not carried out. */
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

  /** Makes the next response hang, and FreeIPA sign when `sign` is called. */
  function signLate(): { readonly sign: () => Promise<void> } {
    let carryOut = () => {};
    first.freeIpa.failNext('cert_request', {
      kind: 'hang',
      carriedOut: true,
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

  /** How often any server was asked to sign. */
  const requests = () =>
    first.freeIpa.count('cert_request') + second.freeIpa.count('cert_request');

  it.each(LOSSES)(
    'finds what was signed when the answer is %s',
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
    'neither repeats nor denies a request when the answer is %s',
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

  it('finds what is signed while it looks', async () => {
    const request = newRequest();
    patientClock.onDelay = signLate().sign;
    const issued = await patient.sign(request);
    expect(keyIn(issued)).toEqual(request.publicKey);
    expect(first.freeIpa.count('cert_find')).toBe(2);
    expect(requests()).toBe(1);
  });

  it('does not know the outcome when FreeIPA cannot be asked', async () => {
    first.freeIpa.failNext('cert_request', { kind: 'cut', carriedOut: true });
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

  it('asks a replica when the server is gone', async () => {
    const request = newRequest();
    first.freeIpa.onHang = () => {};
    first.freeIpa.failNext('cert_request', { kind: 'hang', carriedOut: true });
    const signing = patient.sign(request);
    await untilIssued();
    await first.stop();
    expect(keyIn(await signing)).toEqual(request.publicKey);
    expect(second.freeIpa.count('cert_find')).toBeGreaterThan(0);
    expect(requests()).toBe(1);
  });

  it('takes no older certificate of the same key for the lost one', async () => {
    const request = newRequest();
    const older = await brief.sign(request);
    first.freeIpa.failNext('cert_request', { kind: 'cut', carriedOut: false });
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    first.freeIpa.failNext('cert_request', { kind: 'cut', carriedOut: true });
    const newer = await brief.sign(request);
    expect(newer.certificate).not.toEqual(older.certificate);
    expect(keyIn(newer)).toEqual(request.publicKey);
  });

  it('lets requests for one key wait for each other', async () => {
    const request = newRequest();
    const lost: Fault = { kind: 'cut', carriedOut: true };
    first.freeIpa.failNext('cert_request', lost, lost, lost);
    const issued = await Promise.all(
      Array.from({ length: 3 }, () => patient.sign(request)),
    );
    expect(new Set(issued.map(serialOf)).size).toBe(3);
    expect(requests()).toBe(3);
  });

  it('takes no certificate of another profile for the lost one', async () => {
    const request = newRequest();
    const { sign } = signLate();
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    await sign();
    const [serialNumber] = ca.issued.keys();
    const other = { ...request, profile: 'otherCerts' };
    first.freeIpa.failNext('cert_request', { kind: 'cut', carriedOut: true });
    const issued = await brief.sign(other);
    expect(serialOf(issued)).not.toBe(serialNumber);
    expect(requests()).toBe(2);
  });

  it('does not choose between two', async () => {
    const request = newRequest();
    await ca.issue({ csr: request.csr, username: 'alice' });
    first.freeIpa.failNext('cert_request', { kind: 'cut', carriedOut: true });
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    expect(requests()).toBe(1);
  });

  it('looks before it asks again for what was lost', async () => {
    const request = newRequest();
    const { sign } = signLate();
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    await sign(); // FreeIPA was slow
    const issued = await brief.sign(request);
    expect(keyIn(issued)).toEqual(request.publicKey);
    expect(requests()).toBe(1);
    expect(ca.issued.size).toBe(1);
  });

  it('asks again, when asked again, for what turned out not to be signed', async () => {
    const request = newRequest();
    first.freeIpa.failNext('cert_request', { kind: 'cut', carriedOut: false });
    await expect(brief.sign(request)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    const looks = first.freeIpa.count('cert_find');
    await brief.sign(request);
    expect(first.freeIpa.count('cert_find')).toBe(looks + 1);
    expect(requests()).toBe(2);
    expect(ca.issued.size).toBe(1);
  });

  it('does not ask again while what was lost cannot be looked for', async () => {
    const request = newRequest();
    first.freeIpa.failNext('cert_request', { kind: 'cut', carriedOut: true });
    const down: Fault = { kind: 'error', code: 903, message: 'internal error' };
    const always = Array.from({ length: 9 }, () => down);
    first.freeIpa.failNext('cert_find', ...always);
    second.freeIpa.failNext('cert_find', ...always);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(brief.sign(request)).rejects.toMatchObject({
        name: 'OutcomeUnknownError',
      });
    }
    expect(requests()).toBe(1);
  });

  describe('FreeIPA that does not respond', () => {
    const hang: Fault = { kind: 'hang', carriedOut: false };

    it('ends the search after lostResponseSearch, not after requestTimeout', async () => {
      const { authority } = await start({
        requestTimeoutMs: 3000,
        lostResponseSearchMs: 1000,
      });
      await authority.get(1234n); // logs in
      const request = newRequest();
      first.freeIpa.failNext('cert_request', hang);
      first.freeIpa.failNext('cert_find', hang, hang);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(authority.sign(request)).rejects.toMatchObject({
          name: 'OutcomeUnknownError',
        });
      }
      expect(second.freeIpa.log).toEqual([]);
      while (first.aborted < 3) {
        await sleep(10); // until the server has noticed
      }
      expect(first.freeIpa.log).toEqual([
        'login',
        'cert_show',
        'cert_request',
        'cert_find',
        'cert_find',
      ]);
      const issued = await authority.sign(request);
      expect(keyIn(issued)).toEqual(request.publicKey);
      expect(ca.issued.size).toBe(1);
    });

    it('ends the search after lostResponseSearch when a login hangs', async () => {
      const { authority } = await start({
        requestTimeoutMs: 600_000,
        lostResponseSearchMs: 500,
      });
      await authority.get(1234n); // logs in
      first.freeIpa.failNext('cert_request', {
        kind: 'cut',
        carriedOut: false,
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
      expect(second.freeIpa.log).toEqual([]);
    });

    it('finds what the first call after a restart signs too late', async () => {
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
  ])('finds what was signed when the answer has %s', async (_, change) => {
    const request = newRequest();
    first.freeIpa.failNext('cert_request', { kind: 'change', change });
    const issued = await patient.sign(request);
    expect(keyIn(issued)).toEqual(request.publicKey);
    expect(requests()).toBe(1);
  });

  it('never hands out a certificate for another key', async () => {
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

  it('goes to the next server when there is no connection', async () => {
    await patient.get(1234n);
    await first.stop();
    await patient.sign(newRequest());
    expect(requests()).toBe(1);
    expect(second.freeIpa.count('cert_request')).toBe(1);
  });

  it('trusts no server that caFile does not vouch for', async () => {
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
