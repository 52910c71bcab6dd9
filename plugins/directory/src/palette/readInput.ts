import { parseSerial } from '../certificates/Serial';
import {
  readFingerprint,
  readSshKey,
  type SshKey,
} from '../components/readSshKey';

/** Content of the palette's field: a search text or pasted data. */
export type PaletteInput =
  | { kind: 'empty' }
  | {
      kind: 'text';
      text: string;

      /** The text parsed as the serial number of a certificate. */
      serial?: bigint;

      /** The text parsed as an OpenPGP key ID or fingerprint, in upper case. */
      openPgpKey?: string;
    }
  /**
   * A SHA-256 fingerprint of a certificate, or an OpenPGP fingerprint of the same
   * length: 64 hexadecimal digits in upper case.
   */
  | { kind: 'fingerprint'; fingerprint: string }
  /** An SSH key fingerprint as printed by OpenSSH. */
  | { kind: 'sshFingerprint'; fingerprint: string }
  | { kind: 'sshKey'; key: SshKey }
  | { kind: 'certificate' | 'csr'; pem: string }
  /** Data that must not be sent. */
  | { kind: 'secret' | 'pgpBlock' | 'long' };

/**
 * Formats of private keys, without spaces and punctuation, which may change
 * when text is copied: PEM, OpenSSH, SSH.COM, OpenPGP, PuTTY, age, and a PEM or
 * OpenSSH key in base64.
 */
const SECRET =
  /(?:BEGIN|END)[A-Z0-9]*PRIVATEKEY|PuTTYUserKeyFile\d|Private(?:Lines\d|MAC|Hash)|AGESECRETKEY1|LS0tLS1CRUdJTi|b3BlbnNzaC1rZXktdjE/i;

/** Private member of a JSON Web Key. */
const JWK = /"d"\s*:/;

/** Base64 long enough to be part of a key. */
const ENCODED = /[A-Za-z0-9+/_-]{40,}/g;

/** Maximum length of a search text, in characters. */
const MAX_TEXT = 200;

/**
 * Classifies a text. Pasted text may lack line breaks, because single-line
 * fields remove them.
 */
export function readInput(raw: string): PaletteInput {
  const text = raw.trim();
  if (text === '') {
    return { kind: 'empty' };
  }
  if (isSecret(text)) {
    return { kind: 'secret' };
  }
  if (/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(text)) {
    return { kind: 'certificate', pem: text };
  }
  if (/-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/.test(text)) {
    return { kind: 'csr', pem: text };
  }
  if (/-----BEGIN PGP/.test(text)) {
    return { kind: 'pgpBlock' };
  }
  const key = readSshKey(text);
  if (key) {
    return { kind: 'sshKey', key };
  }
  const fingerprint = readFingerprint(text);
  if (fingerprint) {
    return { kind: 'sshFingerprint', fingerprint };
  }
  if (looksEncoded(text)) {
    return { kind: 'secret' };
  }
  return text.length > MAX_TEXT ? { kind: 'long' } : readText(text);
}

function isSecret(text: string): boolean {
  const plain = text.normalize('NFKC').replace(/[^A-Za-z0-9+/]/g, '');
  return SECRET.test(plain) || JWK.test(text);
}

/**
 * Whether a text contains long base64 that may be part of a private key, and
 * not hexadecimal, an incomplete public key or a fingerprint.
 */
function looksEncoded(text: string): boolean {
  return (
    !/(?:^|\s)(?:SHA256:|(?:sk-)?(?:ssh|ecdsa)-)/.test(text) &&
    (text.match(ENCODED) ?? []).some(
      run =>
        /[a-z]/.test(run) &&
        /[A-Z]/.test(run) &&
        /\d/.test(run) &&
        !/^(?:0x)?[0-9a-f]+$/i.test(run),
    )
  );
}

function readText(text: string): PaletteInput {
  const digits = text
    .replace(/^(?:sha-?256 )?fingerprint\s*[=:]|^0x|[\s:]/gi, '')
    .toUpperCase();
  if (/^[0-9A-F]{64}$/.test(digits)) {
    return { kind: 'fingerprint', fingerprint: digits };
  }
  return {
    kind: 'text',
    text,
    // Words such as "ada" are not serial numbers.
    serial: /\d/.test(text) ? parseSerial(text) : undefined,
    openPgpKey: /^[0-9A-F]{16,63}$/.test(digits) ? digits : undefined,
  };
}
