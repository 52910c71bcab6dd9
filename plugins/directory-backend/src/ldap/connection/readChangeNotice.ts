import { BerCursor } from './BerCursor';

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const ENUMERATED = 0x0a;
const SEQUENCE = 0x30;
const SEARCH_ENTRY = 0x64;
const CONTROLS = 0xa0;

/** draft-ietf-ldapext-psearch-03 §5. */
const ENTRY_CHANGE_NOTIFICATION = '2.16.840.1.113730.3.4.7';

const kinds: ReadonlyMap<number, ChangeNotice['kind']> = new Map([
  [1, 'added'],
  [2, 'deleted'],
  [4, 'modified'],
  [8, 'renamed'],
]);

/** That an entry has changed. */
export interface ChangeNotice {
  readonly kind: 'added' | 'deleted' | 'modified' | 'renamed';
  /** The entry's name, its new one if it was renamed. */
  readonly dn: string;
  /** Its old name, if it was renamed. */
  readonly previousDn?: string;
}

/**
 * What a message that `checkLdapMessage` has passed says of a change;
 * `undefined` when it is about none. The library cannot read these: it gives
 * no entry away before a search has ended, and a persistent one does not end.
 *
 * @throws JunkError when the notification is not one of the protocol.
 */
export function readChangeNotice(message: Buffer): ChangeNotice | undefined {
  const cursor = new BerCursor(message);
  const end = cursor.enter(SEQUENCE, message.length);
  cursor.skip(INTEGER, end);
  if (cursor.peek(end) !== SEARCH_ENTRY) {
    return undefined;
  }
  const entryEnd = cursor.enter(SEARCH_ENTRY, end);
  const dn = cursor.readOctets(OCTET_STRING, entryEnd).toString();
  cursor.skipRest(entryEnd);
  const value = notificationIn(cursor, end);
  return value && { ...readNotification(value), dn };
}

function notificationIn(
  cursor: BerCursor,
  messageEnd: number,
): Buffer | undefined {
  const end =
    cursor.peek(messageEnd) === CONTROLS
      ? cursor.enter(CONTROLS, messageEnd)
      : cursor.at;
  while (cursor.at < end) {
    const controlEnd = cursor.enter(SEQUENCE, end);
    const oid = cursor.readOctets(OCTET_STRING, controlEnd).toString();
    if (cursor.peek(controlEnd) === BOOLEAN) {
      cursor.skip(BOOLEAN, controlEnd);
    }
    if (oid === ENTRY_CHANGE_NOTIFICATION) {
      return cursor.readOctets(OCTET_STRING, controlEnd);
    }
    cursor.skipRest(controlEnd);
  }
  return undefined;
}

/** `SEQUENCE { changeType, previousDN OPTIONAL, changeNumber OPTIONAL }`. */
function readNotification(value: Buffer): Omit<ChangeNotice, 'dn'> {
  const cursor = new BerCursor(value);
  const end = cursor.enter(SEQUENCE, value.length);
  const kind = kinds.get(cursor.readInteger(ENUMERATED, end));
  return {
    // What is new to us may be anything: look again.
    kind: kind ?? 'modified',
    ...(cursor.peek(end) === OCTET_STRING && {
      previousDn: cursor.readOctets(OCTET_STRING, end).toString(),
    }),
  };
}
