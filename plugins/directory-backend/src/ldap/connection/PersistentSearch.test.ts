import { BerWriter } from 'ldapts';
import { ProtocolError } from './BerCursor';
import { parseMessage } from './ldapMessages';
import { readChangeNotification } from './PersistentSearch';

const OID = '2.16.840.1.113730.3.4.7';

/** Returns an entry without attributes, optionally with a control. */
function entryMessage(options: {
  readonly dn: string;
  readonly control?: { readonly oid: string; readonly value: Buffer };
}): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(2);
  writer.startSequence(0x64);
  writer.writeString(options.dn);
  writer.startSequence();
  writer.endSequence();
  writer.endSequence();
  if (options.control) {
    writer.startSequence(0xa0);
    writer.startSequence();
    writer.writeString(options.control.oid);
    writer.writeBuffer(options.control.value, 0x04);
    writer.endSequence();
    writer.endSequence();
  }
  writer.endSequence();
  expect(parseMessage(writer.buffer).next().done).toBe(true);
  return writer.buffer;
}

function notification(type: number, previousDn?: string): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeEnumeration(type);
  if (previousDn !== undefined) {
    writer.writeString(previousDn);
  }
  writer.writeInt(4711);
  writer.endSequence();
  return writer.buffer;
}

const DN = 'uid=älice,dc=example,dc=test';

it('returns the DN of a deleted entry', () => {
  const control = { oid: OID, value: notification(2) };
  expect(readChangeNotification(entryMessage({ dn: DN, control }))).toEqual({
    deletedDn: DN,
  });
});

it('returns the former DN of a renamed entry', () => {
  const control = { oid: OID, value: notification(8, 'uid=a,dc=test') };
  expect(readChangeNotification(entryMessage({ dn: DN, control }))).toEqual({
    deletedDn: 'uid=a,dc=test',
  });
});

// Added, modified, and an unknown change type.
it.each([1, 4, 16])('returns no DN for change type %i', type => {
  const control = { oid: OID, value: notification(type) };
  expect(readChangeNotification(entryMessage({ dn: DN, control }))).toEqual({
    deletedDn: undefined,
  });
});

it('returns undefined for entries without a notification', () => {
  expect(readChangeNotification(entryMessage({ dn: '' }))).toBeUndefined();
  const control = { oid: '1.2.3', value: notification(2) };
  expect(
    readChangeNotification(entryMessage({ dn: '', control })),
  ).toBeUndefined();
});

it('rejects a malformed notification', () => {
  const control = { oid: OID, value: Buffer.from('30050a0102', 'hex') };
  const message = entryMessage({ dn: '', control });
  expect(() => readChangeNotification(message)).toThrow(ProtocolError);
});
