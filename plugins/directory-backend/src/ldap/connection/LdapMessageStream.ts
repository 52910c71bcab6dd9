import { JunkError, readBerHeader } from './BerCursor';

const SEQUENCE = 0x30;

/** No answer is as long; a length beyond this is a broken stream. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Cuts what a server sends into messages (RFC 4511 §4.1.1). */
export class LdapMessageStream {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = 2;

  /**
   * Takes the next bytes and gives the messages that are whole with them.
   *
   * @throws JunkError when the stream is not one of messages.
   */
  *push(data: Buffer): Iterable<Buffer> {
    this.#chunks.push(data);
    this.#bytes += data.length;
    while (this.#bytes >= this.#needed) {
      const bytes =
        this.#chunks.length === 1
          ? this.#chunks[0]
          : Buffer.concat(this.#chunks);
      const end = endOfMessage(bytes);
      if (end === undefined || end > bytes.length) {
        this.#keep(bytes, end ?? bytes.length + 1);
        return;
      }
      this.#keep(bytes.subarray(end), 2);
      yield bytes.subarray(0, end);
    }
  }

  #keep(bytes: Buffer, needed: number): void {
    this.#chunks = bytes.length > 0 ? [bytes] : [];
    this.#bytes = bytes.length;
    this.#needed = needed;
  }
}

function endOfMessage(bytes: Buffer): number | undefined {
  const header = readBerHeader(bytes, 0);
  if (header && (header.tag !== SEQUENCE || header.end > MAX_MESSAGE_BYTES)) {
    throw new JunkError('The stream is not one of LDAP messages');
  }
  return header?.end;
}
