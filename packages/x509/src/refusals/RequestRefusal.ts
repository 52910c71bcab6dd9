import { DerError } from '../der/DerNode';

/**
 * Why a certificate request is refused, and what its sender is told. The sentences are fixed, so
 * that nothing of a request can get into an answer or a log through them.
 *
 * @public
 */
export const refusalMessages = {
  // What was sent
  too_large: 'The request is larger than 64 KiB.',
  not_text: 'The request is not text. Send it as PEM, not as binary DER.',
  private_key:
    'The text holds a private key. It was discarded, but has been sent: make a new key, keep it to yourself, and send only the certificate request.',
  no_request: 'The text holds no certificate request.',
  several_blocks:
    'The text holds more than one PEM block. Send exactly one certificate request.',
  other_block:
    'The text holds a PEM block of another kind, not a certificate request.',
  incomplete_block: 'The PEM block has no END line that fits its BEGIN line.',
  encrypted_block:
    'The PEM block has header lines, as encrypted PEM has. Send it plain.',
  escaped_text:
    'The line ends arrived as escape sequences. Send the text with real line ends.',
  lost_plus:
    'The Base64 text holds spaces. Most likely each was a "+" that a form decoded: percent-encode the value.',
  url_safe_base64:
    'The Base64 text uses the alphabet of URLs ("-" and "_"). PEM has "+" and "/".',
  bad_base64: 'The Base64 text is damaged.',

  // Its structure
  malformed:
    'The request is no valid DER: damaged, cut off, or in another encoding.',
  trailing_data: 'There are bytes after the end of the request.',
  too_complex: 'The request is nested too deep or has too many parts.',
  not_a_request: 'This is no PKCS #10 certificate request.',
  bad_version: 'The version of the request is not 0 (RFC 2986).',
  bad_subject: 'The subject is malformed.',
  subject_string_type:
    'The subject has a string of an ambiguous type. Use UTF8String or PrintableString.',
  subject_characters: 'The subject has an empty value or control characters.',
  subject_too_long: 'The subject is too long or has too many parts.',

  // What it asks for besides a key
  bad_attributes: 'The attributes of the request are malformed or too many.',
  duplicate_attribute: 'An attribute of the request is there twice.',
  bad_extension: 'A requested extension is malformed, or there are too many.',
  duplicate_extension: 'An extension is requested twice.',
  unknown_critical_extension:
    'A requested extension is marked critical and not known here.',
  ca_requested: 'The request asks for a CA certificate.',
  bad_alternative_name:
    'A requested subject alternative name is malformed, or there are too many.',

  // Its key
  unsupported_key: 'The key is of another type than RSA, EC and Ed25519.',
  malformed_key: 'The public key is malformed.',
  unsupported_curve:
    'The EC key is not on the named curve P-256, P-384 or P-521.',
  invalid_point:
    'The public key is not an uncompressed point on its curve, or is one of its few unsafe points.',
  key_size: 'The RSA key must have 2048 to 8192 bits.',
  key_exponent:
    'The public exponent of the RSA key must be odd, from 65537 to below 2^256.',
  key_modulus:
    'The RSA key is broken: its modulus is negative, even, or has a small factor.',
  key_roca:
    'The RSA key was made by faulty hardware and can be broken (ROCA, CVE-2017-15361). Make a new one elsewhere.',
  key_close_primes:
    'The primes of the RSA key are too close to each other, so it can be broken. Make a new one with other software.',

  // Its signature
  weak_signature_algorithm:
    'The request is signed with MD5 or SHA-1. Use SHA-256 or better.',
  unsupported_signature_algorithm:
    'The algorithm that the request is signed with is not supported.',
  signature_algorithm_mismatch:
    'The request is signed with an algorithm that does not fit its key.',
  bad_signature:
    'The signature does not prove possession of the private key: the request was altered, or signed with another key.',
} as const;

/** Thrown inside this package where a request is found wanting; never crosses its border. */
export class RequestRefusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode) {
    super(refusalMessages[code]);
    this.name = 'RequestRefusal';
    this.code = code;
  }
}

/** Runs a reader and refuses with the code when it meets what its grammar does not have. */
export function refuseMalformed<T>(code: RefusalCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DerError ? new RequestRefusal(code) : error;
  }
}

/**
 * The stable code of a refusal.
 *
 * @public
 */
export type RefusalCode = keyof typeof refusalMessages;
