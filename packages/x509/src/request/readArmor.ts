import { RequestRefusal } from '../refusals/RequestRefusal';

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';

/** RFC 7468 §7, and the label of older Microsoft and Netscape software. */
const LABELS = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];

/** Maximum length of a label. */
const MAX_LABEL = 64;

/**
 * Extracts the DER of a certificate request from text that contains exactly one
 * PEM block (RFC 7468), with or without surrounding text, or bare Base64.
 * Accepts any line endings, indentation and line length, a leading byte order
 * mark, and UTF-16 with this mark, as programs for Windows write it. Runs in
 * linear time.
 *
 * @throws RequestRefusal
 */
export function readArmor(input: string): Buffer {
  const text = repairUtf16(input);
  if (text.includes('\0')) {
    throw new RequestRefusal('not_text');
  }
  if (containsPrivateKey(text)) {
    throw new RequestRefusal('private_key');
  }
  const body = text.replace(/^\ufeff/, '');
  const begin = body.indexOf(BEGIN);
  return decodeBase64(begin < 0 ? readBareText(body) : readBlock(body, begin));
}

/**
 * Repairs UTF-16 that was decoded as UTF-8: both bytes of the mark are invalid,
 * and each ASCII character has a zero byte. Returns other text unchanged.
 */
function repairUtf16(text: string): string {
  return text.startsWith('\ufffd\ufffd')
    ? text.slice(2).replaceAll('\0', '')
    : text;
}

function readBareText(text: string): string {
  if (
    text.trim() === '' ||
    text.includes(DASHES) ||
    !/^[A-Za-z0-9+/=_\s-]*$/.test(text)
  ) {
    throw new RequestRefusal('no_request');
  }
  return text;
}

function readBlock(text: string, begin: number): string {
  if (text.includes(BEGIN, begin + 1)) {
    throw new RequestRefusal('several_blocks');
  }
  const labelStart = begin + BEGIN.length;
  const label = text
    .slice(labelStart, labelStart + MAX_LABEL)
    .split(DASHES, 1)[0];
  if (!LABELS.includes(label)) {
    throw new RequestRefusal('other_block');
  }
  const bodyStart = labelStart + label.length + DASHES.length;
  const end = text.indexOf(END, bodyStart);
  if (end < 0 || !text.startsWith(`${label}${DASHES}`, end + END.length)) {
    throw new RequestRefusal('incomplete_block');
  }
  if (text.includes(END, end + 1)) {
    throw new RequestRefusal('several_blocks');
  }
  return text.slice(bodyStart, end);
}

/** Line lengths of PEM (RFC 7468 §2) and MIME (RFC 2045 §6.8). */
const LINE_LENGTHS = [64, 76];

/**
 * Decodes canonical Base64 (RFC 4648 §4: padded, without spare bits). White space is allowed at the
 * ends of lines; inside a line only where a line break became a space, as in one-line form fields.
 *
 * @throws RequestRefusal with the most likely cause
 */
function decodeBase64(text: string): Buffer {
  const base64 = text
    .split(/[\r\n]+/)
    .map(joinLine)
    .join('');
  if (base64 === '') {
    throw new RequestRefusal('no_request');
  }
  if (!/^[A-Za-z0-9+/=]+$/.test(base64)) {
    throw new RequestRefusal(diagnose(base64));
  }
  const bytes = Buffer.from(base64, 'base64');
  // Buffer ignores invalid characters; only canonical Base64 survives
  // re-encoding.
  if (bytes.toString('base64') !== base64) {
    throw new RequestRefusal('bad_base64');
  }
  return bytes;
}

function joinLine(line: string): string {
  const trimmed = line.trim();
  if (!/[ \t]/.test(trimmed)) {
    return trimmed;
  }
  const words = trimmed.split(/[ \t]+/);
  const areLines = LINE_LENGTHS.some(length =>
    words.slice(0, -1).every(word => word.length === length),
  );
  return words.join(areLines ? '' : ' ');
}

function diagnose(text: string) {
  if (/\\[nr]|&#/.test(text)) {
    return 'escaped_text';
  }
  if (text.includes(':')) {
    return 'encrypted_block';
  }
  if (text.includes(' ') && /^[A-Za-z0-9+/= ]+$/.test(text)) {
    return 'lost_plus';
  }
  return /^[A-Za-z0-9_=-]+$/.test(text) ? 'url_safe_base64' : 'bad_base64';
}

/**
 * Headers of private keys: PEM blocks, including OpenSSH's and SSH.com's, and
 * PuTTY's files.
 */
const PRIVATE_KEY_HEADERS = [
  /BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY/i,
  /^\s{0,8}PuTTY-User-Key-File-/im,
];

/**
 * Detects a private key, including one whose dashes, line breaks or END line
 * are damaged.
 */
function containsPrivateKey(text: string): boolean {
  return PRIVATE_KEY_HEADERS.some(header => header.test(text));
}
