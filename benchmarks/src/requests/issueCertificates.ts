import type { Portal } from '../portal/Portal';
import { newP256Keys } from './newP256Keys';
import { RequestPool } from './RequestPool';
import { signingForm } from './signingForm';

/**
 * Has the portal issue certificates.
 *
 * @returns their serial numbers in decimal digits, too long for a number
 * @throws Error that says what was answered instead
 */
export async function issueCertificates(options: {
  readonly portal: Pick<Portal, 'origin' | 'token'>;
  /** The user for whom the portal's token is. */
  readonly username: string;
  readonly count: number;
}): Promise<readonly string[]> {
  const { portal, username, count } = options;
  const authorization = `Bearer ${await portal.token()}`;
  const requests = new RequestPool(newP256Keys());
  const serialNumbers: string[] = [];
  while (serialNumbers.length < count) {
    const csr = requests.take(username);
    const response = await fetch(`${portal.origin}/api/directory/v1/certs/`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: signingForm({ username, csr }),
    });
    const text = await response.text();
    const [, serialNumber] = /"serial_number":(\d+)/.exec(text) ?? [];
    if (!response.ok || serialNumber === undefined) {
      throw new Error(`POST /certs/ answered ${response.status}: ${text}`);
    }
    serialNumbers.push(serialNumber);
  }
  return serialNumbers;
}
