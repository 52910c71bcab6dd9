import { RequestRefusal } from '../refusals/RequestRefusal';
import { decodeBase64 } from './decodeBase64';
import { holdsPrivateKey } from './holdsPrivateKey';

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
