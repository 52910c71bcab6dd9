import type { X509Certificate } from 'node:crypto';

/**
 * Node 22 has JSON.rawJSON, but TypeScript 5.8's library does not declare it.
 */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** FreeIPA version of the results: the numbers and messages of 4.9 differ. */
export type FakeVersion = '4.9' | '4.12';

/**
 * A certificate in the form of `ipaserver/plugins/cert.py`,
 * `BaseCertObject._parse` with `all`.
 *
 * @param options - `chain`: its issuers in Dogtag's order
 */
export function describeCertificate(options: {
  readonly certificate: X509Certificate;
  readonly chain: readonly X509Certificate[];
  readonly version: FakeVersion;
}): Record<string, unknown> {
  const { certificate, chain, version } = options;
  const serial = BigInt(`0x${certificate.serialNumber}`);
  const base64 = certificate.raw.toString('base64');
  return {
    certificate:
      version === '4.9' ? base64.replace(/.{64}/g, '$&\r\n') : base64,
    certificate_chain: [certificate, ...chain].map(({ raw }) => ({
      __base64__: raw.toString('base64'),
    })),
    subject: rfc4514(certificate.subject),
    issuer: rfc4514(certificate.issuer),
    serial_number: version === '4.9' ? rawJSON(`${serial}`) : `${serial}`,
    serial_number_hex: `0x${serial.toString(16).toUpperCase()}`,
    valid_not_before: ipaDate(certificate.validFromDate),
    valid_not_after: ipaDate(certificate.validToDate),
    sha1_fingerprint: certificate.fingerprint.toLowerCase(),
    sha256_fingerprint: certificate.fingerprint256.toLowerCase(),
    cacn: 'ipa',
  };
}

function rfc4514(name: string): string {
  return name.split('\n').reverse().join(',');
}

/** `Tue May 05 06:22:53 2020 UTC`. */
function ipaDate(date: Date): string {
  const [weekday, day, month, year, time] = date
    .toUTCString()
    .replace(',', '')
    .split(' ');
  return `${weekday} ${month} ${day} ${time} ${year} UTC`;
}
