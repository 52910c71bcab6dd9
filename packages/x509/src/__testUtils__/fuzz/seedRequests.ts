import { constants, sign } from 'node:crypto';
import {
  buildRequest,
  extension,
  extensionRequest,
  subject,
} from '../buildRequest';
import { TestKey, testKey } from '../testKeys';
import {
  bits,
  FALSE,
  int,
  NULL,
  octets,
  oid,
  seq,
  set,
  text,
  tlv,
} from '../tlv';

/** A request and a function to sign it again after a change. */
export interface SeedRequest {
  der: Buffer;
  sign(info: Buffer): Buffer;
}

const KERBEROS_NAME = seq(
  tlv(0xa0, text(0x1b, 'EXAMPLE.TEST')),
  tlv(0xa1, seq(tlv(0xa0, int(1n)), tlv(0xa1, seq(text(0x1b, 'alice'))))),
);

const NAMES = seq(
  tlv(
    0xa0,
    oid('userPrincipalName'),
    tlv(0xa0, text(0x0c, 'alice@EXAMPLE.TEST')),
  ),
  tlv(0xa0, oid('krb5PrincipalName'), tlv(0xa0, KERBEROS_NAME)),
  text(0x81, 'alice@example.test'),
  text(0x82, 'www.example.test'),
  tlv(0xa4, subject(['commonName', 'alice'])),
  text(0x86, 'https://example.test/'),
  tlv(0x87, Buffer.of(127, 0, 0, 1)),
  tlv(0x88, Buffer.of(0x2a, 3, 4)),
);

/** Every supported field. */
const FULL = {
  subject: subject(
    ['domainComponent', 'test', 0x16],
    ['2.5.4.10', 'EXAMPLE', 0x13],
    ['commonName', 'alice'],
    ['emailAddress', 'alice@example.test', 0x16],
  ),
  attributes: [
    seq(oid('1.2.840.113549.1.9.7'), set(text(0x0c, 'a challenge'))),
    extensionRequest(
      extension('basicConstraints', seq(FALSE), { critical: true }),
      extension('keyUsage', bits(Buffer.of(0x80), 7)),
      extension('subjectKeyIdentifier', octets(Buffer.alloc(20))),
      extension('subjectAltName', NAMES),
    ),
  ],
};

/** Requests with keys of every type. */
export function seedRequests(): SeedRequest[] {
  return [
    signedBy(testKey('ed25519'), null),
    signedBy(testKey('P-256'), 'sha256'),
    signedBy(testKey('P-521'), 'sha256'),
    signedWithPss(testKey('rsa')),
  ];
}

function signedBy(key: TestKey, hash: 'sha256' | null): SeedRequest {
  return {
    der: buildRequest({ ...FULL, key }),
    sign: info => sign(hash, info, key.privateKey),
  };
}

function signedWithPss(key: TestKey): SeedRequest {
  const signing = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  const sha256 = seq(oid('sha256'), NULL);
  const algorithm = seq(
    oid('rsassaPss'),
    seq(
      tlv(0xa0, sha256),
      tlv(0xa1, seq(oid('mgf1'), sha256)),
      tlv(0xa2, int(32n)),
    ),
  );
  return {
    der: buildRequest({ key, algorithm, signing }),
    sign: info => sign('sha256', info, { key: key.privateKey, ...signing }),
  };
}
