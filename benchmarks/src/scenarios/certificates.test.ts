import {
  readCertificateRequest,
  type SubjectPublicKey,
} from '@directory-gateway/x509';
import { createPublicKey } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SeededRandom } from '../SeededRandom';
import { settings } from '../settings';
import { certificateScenarios } from './certificates';

const usernames = ['alice', 'bob'];

function keyType({ spki }: SubjectPublicKey): string {
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  return namedCurve === 'prime256v1' ? 'P-256' : `RSA-${modulusLength}`;
}

describe('certificateScenarios', () => {
  const random = new SeededRandom(1);
  let server: Server;
  let issued: number;

  beforeAll(async () => {
    issued = 0;
    server = createServer((req, res) => {
      issued++;
      // Serial numbers that exceed the range of a `number`.
      res.end(`{"serial_number":17014118346046923173168730371588410${issued}}`);
      req.resume();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => {
    server.close();
  });

  function scenarios() {
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    return certificateScenarios({ origin, token: async () => 't' }, 'alice');
  }

  it.each([
    ['RSA-2048', 0],
    ['P-256', 1],
  ])('request certificates, each with a new %s key', async (type, index) => {
    const scenario = scenarios()[index];
    // The last two CSRs are created on demand.
    await scenario.prepare?.({ usernames, count: 8 });
    const keys = Array.from({ length: 10 }, (_, turn) => {
      const username = usernames[turn % 2];
      const { form, expected, ldap } = scenario.next(random, username);
      const fields = new URLSearchParams(form);
      expect(ldap).toBeUndefined();
      expect(fields.get('user')).toBe(username);
      expect(expected).toContain(`"subject":"CN=${username},O=`);
      const reading = readCertificateRequest(fields.get('csr')!);
      expect(reading).toMatchObject({
        ok: true,
        csr: { subject: { commonNames: [username] } },
      });
      return (reading as Extract<typeof reading, { ok: true }>).csr.publicKey;
    });
    expect(new Set(keys.map(({ sha256 }) => sha256)).size).toBe(10);
    expect(new Set(keys.map(keyType))).toEqual(new Set([type]));
  });

  it('read all issued certificates', async () => {
    const [, , scenario] = scenarios();
    await scenario.prepare?.({ usernames, count: 100 });
    await scenario.prepare?.({ usernames, count: 100 });
    expect(issued).toBe(settings.certificates);
    const requests = Array.from({ length: 5000 }, () =>
      scenario.next(random, 'alice'),
    );
    expect(new Set(requests.map(({ path }) => path)).size).toBe(issued);
    for (const { path, expected, form, ldap } of requests) {
      expect([form, ldap]).toEqual([undefined, undefined]);
      expect(expected[0]).toBe(`"serial_number":${path.split('/')[2]},`);
    }
  });
});
