import { parseSerial } from '../certificates/Serial';

/** Content of the palette's field. */
export type PaletteInput =
  | {
      kind: 'text';
      text: string;

      /** The text parsed as the serial number of a certificate. */
      serial?: bigint;
    }
  /** Nothing to search for, or data that must not be sent. */
  | { kind: 'empty' | 'secret' | 'long' };

/** A private key in PEM, OpenSSH, OpenPGP or PuTTY format. */
const SECRET =
  /(?:BEGIN|END)[\w\s-]*PRIVATE[\s-]*KEY|Private-Lines|PuTTY-User-Key-File/i;

/** Maximum length of a search text, in characters. */
const MAX_TEXT = 200;

/** Classifies the text in the field. */
export function readInput(raw: string): PaletteInput {
  const text = raw.trim();
  if (text === '') {
    return { kind: 'empty' };
  }
  if (SECRET.test(text)) {
    return { kind: 'secret' };
  }
  if (text.length > MAX_TEXT) {
    return { kind: 'long' };
  }
  // Words such as "ada" are not serial numbers.
  const serial = /\d/.test(text) ? parseSerial(text) : undefined;
  return { kind: 'text', text, serial };
}
