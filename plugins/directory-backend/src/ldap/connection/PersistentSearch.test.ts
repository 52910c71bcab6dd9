import { BerWriter } from 'ldapts';
import { ProtocolError } from './BerCursor';
import { checkLdapMessage } from './ldapMessages';
import { readChangeNotification } from './PersistentSearch';

const OID = '2.16.840.1.113730.3.4.7';

/** An entry without attributes, optionally with a control. */
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
  checkLdapMessage(writer.buffer);
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

it.each([
  [1, 'added'],
  [2, 'deleted'],
  [4, 'modified'],
  // An unknown change type.
  [16, 'modified'],
])('reads change type %i as %s', (type, kind) => {
  const dn = 'uid=älice,dc=example,dc=test';
  const control = { oid: OID, value: notification(type) };
  expect(readChangeNotification(entryMessage({ dn, control }))).toEqual({
    kind,
    dn,
  });
});

it('reads both DNs of a renamed entry', () => {
  const control = { oid: OID, value: notification(8, 'uid=a,dc=test') };
  expect(
    readChangeNotification(entryMessage({ dn: 'uid=b,dc=test', control })),
  ).toEqual({
    kind: 'renamed',
    dn: 'uid=b,dc=test',
    previousDn: 'uid=a,dc=test',
  });
});

it('returns nothing for entries without a notification', () => {
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
