import { BmpString, OctetString } from 'asn1js';
import {
  Attribute,
  AuthenticatedSafe,
  CertBag,
  Certificate,
  PFX,
  PKCS8ShroudedKeyBag,
  PrivateKeyInfo,
  SafeBag,
  SafeContents,
} from 'pkijs';
import { fromPem } from '../pem';

interface Pkcs12Content {
  readonly privateKey: CryptoKey;

  /** PEM. */
  readonly certificate: string;

  /** Issuer certificates in base64 DER, nearest issuer first. */
  readonly issuers: readonly string[];
  readonly name: string;

  /** Printable ASCII. */
  readonly passphrase: string;
}

/**
 * Iterations of both key derivations: the weaker one determines the security.
 */
const ITERATIONS = 100_000;

// RFC 7292 §4.2 and appendix D.
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
const CERT_BAG = '1.2.840.113549.1.12.10.1.3';
const FRIENDLY_NAME = '1.2.840.113549.1.9.20';
const LOCAL_KEY_ID = '1.2.840.113549.1.9.21';

/**
 * Creates a PKCS#12 file (RFC 7292) that current versions of OpenSSL, NSS and
 * browsers can read. The key and the certificates are encrypted with PBES2 and
 * AES-256; HMAC-SHA-256 protects the integrity of the file.
 */
export async function createPkcs12(
  content: Pkcs12Content,
): Promise<ArrayBuffer> {
  const password = new TextEncoder().encode(content.passphrase).buffer;
  const encryption = {
    password,
    contentEncryptionAlgorithm: { name: 'AES-CBC', length: 256 },
    hmacHashAlgorithm: 'SHA-256',
    iterationCount: ITERATIONS,
  };
  const attributes = await pairingAttributes(content);
  const keyBag = new PKCS8ShroudedKeyBag({
    parsedValue: PrivateKeyInfo.fromBER(
      await crypto.subtle.exportKey('pkcs8', content.privateKey),
    ),
  });
  // The library's type requires values that the library sets itself.
  await keyBag.makeInternalValues(
    encryption as Parameters<typeof keyBag.makeInternalValues>[0],
  );
  const safe = new AuthenticatedSafe({
    parsedValue: {
      safeContents: [
        {
          privacyMode: 0, // the bag itself is encrypted
          value: new SafeContents({
            safeBags: [
              new SafeBag({
                bagId: SHROUDED_KEY_BAG,
                bagValue: keyBag,
                bagAttributes: attributes,
              }),
            ],
          }),
        },
        {
          privacyMode: 1, // encrypted with the passphrase
          value: new SafeContents({
            safeBags: [
              certificateBag(content.certificate, attributes),
              ...content.issuers.map(issuer => certificateBag(issuer)),
            ],
          }),
        },
      ],
    },
  });
  await safe.makeInternalValues({ safeContents: [{}, encryption] });
  const file = new PFX({
    parsedValue: { integrityMode: 0, authenticatedSafe: safe },
  });
  await file.makeInternalValues({
    password,
    iterations: ITERATIONS,
    pbkdf2HashAlgorithm: 'SHA-256',
    hmacHashAlgorithm: 'SHA-256',
  });
  return file.toSchema().toBER();
}

function certificateBag(encoded: string, bagAttributes?: Attribute[]): SafeBag {
  return new SafeBag({
    bagId: CERT_BAG,
    bagValue: new CertBag({
      parsedValue: Certificate.fromBER(fromPem(encoded)),
    }),
    bagAttributes,
  });
}

/**
 * Returns the attributes by which key stores match a certificate with its key.
 */
async function pairingAttributes(content: Pkcs12Content): Promise<Attribute[]> {
  const id = await crypto.subtle.digest('SHA-1', fromPem(content.certificate));
  return [
    new Attribute({
      type: FRIENDLY_NAME,
      values: [new BmpString({ value: content.name })],
    }),
    new Attribute({
      type: LOCAL_KEY_ID,
      values: [new OctetString({ valueHex: id })],
    }),
  ];
}
