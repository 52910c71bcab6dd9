import { newP256Keys } from '../requests/newP256Keys';
import { newRsaKeys } from '../requests/newRsaKeys';
import { RequestPool } from '../requests/RequestPool';
import { signingForm } from '../requests/signingForm';
import type { Question } from './Question';

/** Certificates for the callers themselves, and those that were issued. */
export function certificateQuestions(options: {
  /** Has some certificates issued; resolves with their serial numbers. */
  readonly issue: () => Promise<readonly string[]>;
}): readonly Question[] {
  return [
    signing('RSA-2048', new RequestPool(newRsaKeys())),
    signing('P-256', new RequestPool(newP256Keys())),
    readingBySerial(options.issue),
  ];
}

function signing(kind: string, requests: RequestPool): Question {
  return {
    name: `POST /certs/ ${kind}`,
    modes: ['negotiate', 'token'],
    prepare: need => requests.prepare(need),
    draw: (_random, username) => ({
      path: '/certs/',
      form: signingForm({ username, csr: requests.take(username) }),
      expected: [
        `"subject":${JSON.stringify(`CN=${username},O=`).slice(0, -1)}`,
        `"owner_user":[${JSON.stringify(username)}]`,
        '"revoked":false',
      ],
    }),
  };
}

function readingBySerial(issue: () => Promise<readonly string[]>): Question {
  let serialNumbers: readonly string[] = [];
  return {
    name: '/certs/{serial}/',
    async prepare() {
      if (serialNumbers.length === 0) {
        serialNumbers = await issue();
      }
    },
    draw(random) {
      const serialNumber = random.pick(serialNumbers);
      return {
        path: `/certs/${serialNumber}/`,
        expected: [`"serial_number":${serialNumber},`, '"revoked":false'],
      };
    },
  };
}
