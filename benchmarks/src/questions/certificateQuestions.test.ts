import {
  readCertificateRequest,
  type SubjectPublicKey,
} from '@directory-gateway/x509';
import { SeededRandom } from '../SeededRandom';
import { certificateQuestions } from './certificateQuestions';

const usernames = ['alice', 'bob'];
const serialNumbers = ['170141183460469231731687303715884105727', '7'];

function keyKind(key: SubjectPublicKey): string {
  return key.algorithm === 'ec' ? key.curve : `RSA-${key.bits}`;
}

describe('the questions of the bench about certificates', () => {
  const random = new SeededRandom(1);
  const questions = certificateQuestions({ issue: async () => serialNumbers });
  const [rsa, p256, read] = questions;

  it.each([
    ['RSA-2048', rsa],
    ['P-256', p256],
  ])('ask with a new %s key each time, for the caller', async (kind, asked) => {
    // The last two are drawn beyond what is at hand.
    await asked.prepare?.({ usernames, count: 8 });
    const readings = Array.from({ length: 10 }, (_, turn) => {
      const username = usernames[turn % 2];
      const { form, expected } = asked.draw(random, username);
      const asks = new URLSearchParams(form);
      expect(asks.get('user')).toBe(username);
      expect(expected).toContain(`"subject":"CN=${username},O=`);
      const reading = readCertificateRequest(asks.get('csr')!);
      expect(reading).toMatchObject({
        ok: true,
        csr: { subject: { commonNames: [username] } },
      });
      return reading as Extract<typeof reading, { ok: true }>;
    });
    const keys = readings.map(({ csr }) => csr.publicKey);
    expect(new Set(keys.map(({ sha256 }) => sha256)).size).toBe(10);
    expect(new Set(keys.map(keyKind))).toEqual(new Set([kind]));
  });

  it('read what was issued, all of it', async () => {
    await read.prepare?.({ usernames, count: 100 });
    const drawn = Array.from({ length: 100 }, () => read.draw(random, 'alice'));
    expect(new Set(drawn.map(({ path }) => path))).toEqual(
      new Set(serialNumbers.map(number => `/certs/${number}/`)),
    );
    for (const { path, expected, form } of drawn) {
      expect([form, expected[0]]).toEqual([
        undefined,
        `"serial_number":${path.split('/')[2]},`,
      ]);
    }
  });

  it('have nothing that the directory could be asked', async () => {
    for (const { prepare, draw } of questions) {
      await prepare?.({ usernames, count: 2 });
      expect(draw(random, 'alice').ask).toBeUndefined();
    }
  });
});
