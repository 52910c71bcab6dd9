import { RequestRefusal } from '../refusals/RequestRefusal';

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';

/** RFC 7468 §7, and what older Microsoft and Netscape software writes. */
const LABELS = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];

/** No label is longer, so that looking for its end is bounded. */
const MAX_LABEL = 64;

/**
 * Takes the DER of a certificate request out of the text that somebody sent: exactly one PEM block
 * (RFC 7468) with whatever text around it, or Base64 without armor. Line ends, indentation, a byte
 * order mark and line lengths are as people send them. Linear in the text.
 *
 * @throws RequestRefusal
 */
export function readArmor(text: string): Buffer {
  if (text.includes('\0')) {
    throw new RequestRefusal('not_text');
  }
  if (holdsPrivateKey(text)) {
    throw new RequestRefusal('private_key');
  }
  const body = text.replace(/^\ufeff/, '');
  const begin = body.indexOf(BEGIN);
  return decodeBase64(begin < 0 ? readBareText(body) : readBlock(body, begin));
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

/** Where software breaks the lines of PEM (RFC 7468 §2) and of MIME (RFC 2045 §6.8). */
const LINE_LENGTHS = [64, 76];

/**
 * Decodes the Base64 text of a PEM block (RFC 4648 §4), padded and without spare bits. White space
 * is free at the ends of lines; inside of a line, only where a line end became a space, as the
 * one-line fields of web forms make it.
 *
 * @throws RequestRefusal with what most likely went wrong
 */
export function decodeBase64(text: string): Buffer {
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
  // Buffer makes the best of damaged text; only canonical text survives the way back.
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
 * How private keys begin in text: any PEM block for one, OpenSSH's among them (its label is
 * `OPENSSH PRIVATE KEY`), SSH.com's, and PuTTY's files.
 */
const MARKS = [
  /BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY/i,
  /^\s{0,8}PuTTY-User-Key-File-/im,
];

/**
 * Tells whether a text that should be a certificate request holds somebody's private key. Damage to
 * the dashes, the line ends or the end of the block makes no difference: what was sent was sent.
 */
export function holdsPrivateKey(text: string): boolean {
  return MARKS.some(mark => mark.test(text));
}
