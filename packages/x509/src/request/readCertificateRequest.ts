import { isUtf8 } from 'node:buffer';
import { readArmor } from './readArmor';
import { DerError, DerTrouble } from '../der/DerError';
import { readStrictDer } from '../der/readStrictDer';
import { CertificateRequest } from './CertificateRequest';
import { readCertificationRequest } from './readCertificationRequest';
import { RefusalCode } from '../refusals/refusalMessages';
import { RequestRefusal } from '../refusals/RequestRefusal';

/** The most bytes of text that are looked at. */
const MAX_BYTES = 65_536;

/**
 * What {@link readCertificateRequest} finds: a request to decide about, or why there is none. `code`
 * is for programs and stays; `message` is a sentence for the sender. Neither holds anything of what
 * was sent.
 *
 * @public
 */
export type CertificateRequestResult =
  | { readonly ok: true; readonly request: CertificateRequest }
  | {
      readonly ok: false;
      readonly code: RefusalCode;
      readonly message: string;
    };

/**
 * Reads a certificate request that nobody trusts yet.
 *
 * @param text - PEM or Base64, as text or as its UTF-8 bytes; 64 KiB at most
 *
 * @public
 */
export function readCertificateRequest(
  text: string | Uint8Array,
): CertificateRequestResult {
  try {
    const der = readArmor(toText(text));
    return { ok: true, request: readCertificationRequest(parse(der)) };
  } catch (error) {
    if (error instanceof RequestRefusal) {
      return { ok: false, code: error.code, message: error.message };
    }
    throw error;
  }
}

function toText(input: string | Uint8Array): string {
  const size =
    typeof input === 'string' ? Buffer.byteLength(input) : input.length;
  if (size > MAX_BYTES) {
    throw new RequestRefusal('too_large');
  }
  if (typeof input === 'string') {
    return input;
  }
  if (!isUtf8(input)) {
    throw new RequestRefusal('not_text');
  }
  return Buffer.from(input).toString('utf8');
}

const CODES: Record<DerTrouble, RefusalCode> = {
  malformed: 'malformed',
  trailing: 'trailing_data',
  complex: 'too_complex',
};

function parse(der: Buffer) {
  try {
    return readStrictDer(der);
  } catch (error) {
    throw error instanceof DerError
      ? new RequestRefusal(CODES[error.trouble])
      : error;
  }
}
