import { RequestRefusal } from '../refusals/RequestRefusal';

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
