import fc from 'fast-check';
import { BerWriter, MessageParser, SearchEntry } from 'ldapts';
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CheckedSocket } from './CheckedSocket';
import { parseMessage, ProtocolError, readBerHeader } from './ldapMessages';

interface RandomEntry {
  readonly dn: string;
  readonly attributes: readonly (readonly [string, readonly Buffer[]])[];
}

const REQUEST_ID = 7;

/** Value that makes an entry a large one. */
const LARGE_VALUE = Buffer.alloc(70_000, 'x');

function entryMessage({ dn, attributes }: RandomEntry): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(REQUEST_ID);
  writer.startSequence(0x64);
  writer.writeString(dn);
  writer.startSequence();
  for (const [type, values] of attributes) {
    writer.startSequence();
    writer.writeString(type);
    writer.startSequence(0x31);
    for (const value of values) {
      writer.writeBuffer(value, 0x04);
    }
    writer.endSequence();
    writer.endSequence();
  }
  writer.endSequence();
  writer.endSequence();
  writer.endSequence();
  return Buffer.from(writer.buffer);
}

const values = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary' }).map(text => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }).map(octets => Buffer.from(octets)),
    // The decoder of ldapts omits a byte order mark.
    fc.constantFrom(Buffer.from('\uFEFFx'), Buffer.alloc(0)),
  ),
);

const entries: fc.Arbitrary<RandomEntry> = fc.record({
  dn: fc.string({ unit: 'binary' }),
  attributes: fc.array(
    fc.tuple(
      fc.constantFrom('cn', 'CN', 'member', 'userCertificate;binary'),
      values,
    ),
  ),
});

function enlarged(entry: RandomEntry): RandomEntry {
  return {
    dn: entry.dn,
    attributes: [...entry.attributes, ['description', [LARGE_VALUE]]],
  };
}

/** Returns the entries as parsed by an unmodified ldapts parser. */
function parsedByLdapts(messages: readonly Buffer[]): readonly unknown[] {
  const parser = new MessageParser();
  const parsed: unknown[] = [];
  parser.on('message', message => parsed.push(recordOf(message)));
  for (const message of messages) {
    parser.read(message, new Map());
  }
  return parsed;
}

function recordOf(message: unknown): unknown {
  return message instanceof SearchEntry ? message.toObject([], []) : message;
}

/** Creates a socket with a pending request, and records what ldapts receives. */
function startChecked() {
  const connected = new Duplex({
    read() {},
    write: (_chunk, _encoding, callback) => callback(),
  });
  const socket = new CheckedSocket(connected as Socket);
  const passed: Buffer[] = [];
  const errors: Error[] = [];
  socket.on('data', data => passed.push(data));
  socket.on('error', error => errors.push(error));
  socket.write(searchDone(REQUEST_ID));
  const received: unknown[] = [];
  return {
    socket,
    passed,
    errors,
    connected,
    receive: (data: Buffer) => connected.push(data),
    /** Returns the entries received so far. */
    received() {
      received.push(...socket.takeEntries().map(recordOf));
      return received;
    },
  };
}

/** Returns a message without entry: a request needs only its ID. */
function searchDone(id: number): Buffer {
  return Buffer.from([0x30, 12, 2, 1, id, 0x65, 7, 10, 1, 0, 4, 0, 4, 0]);
}

async function turnsUntil(isDone: () => boolean): Promise<number> {
  let turns = 0;
  while (!isDone() && turns < 100_000) {
    await nextTurn();
    turns++;
  }
  return turns;
}

function parse(message: Buffer) {
  const parsing = parseMessage(message);
  let step = parsing.next();
  while (!step.done) {
    step = parsing.next();
  }
  return step.value;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

function elementsOf(bytes: Buffer): readonly Element[] {
  const elements: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { tag, start, end } = readBerHeader(bytes, at)!;
    assert(end <= bytes.length);
    elements.push({ tag, content: bytes.subarray(start, end) });
    at = end;
  }
  return elements;
}

function contentOf(element: Element, tag: number): readonly Element[] {
  assert.equal(element.tag, tag);
  return elementsOf(element.content);
}

/** Grammar of RFC 4511 §4.5.2, independent of the production code. */
function requireEntry(bytes: Buffer): void {
  const [message, ...rest] = elementsOf(bytes);
  assert.equal(rest.length, 0);
  const [id, entry, ...controls] = contentOf(message, 0x30);
  assert(id.tag === 0x02 && id.content.length >= 1 && id.content.length <= 4);
  const [name, list, ...others] = contentOf(entry, 0x64);
  assert(name.tag === 0x04 && others.length === 0);
  for (const attribute of contentOf(list, 0x30)) {
    const [type, set, ...more] = contentOf(attribute, 0x30);
    assert(type.tag === 0x04 && more.length === 0);
    assert(contentOf(set, 0x31).every(({ tag }) => tag === 0x04));
  }
  assert(controls.length <= 1);
  for (const control of controls.flatMap(some => contentOf(some, 0xa0))) {
    const tags = contentOf(control, 0x30).map(({ tag }) => tag);
    assert.match(tags.join(), /^4(,1)?(,4)?$/);
  }
}

function outcomeOf(check: () => unknown): 'accepted' | 'rejected' {
  try {
    check();
    return 'accepted';
  } catch {
    return 'rejected';
  }
}

describe('parseMessage', () => {
  it('returns the same as ldapts for random entries', () => {
    fc.assert(
      fc.property(entries, entry => {
        const message = entryMessage(entry);
        const parsed = parse(message);
        expect(parsed.id).toBe(REQUEST_ID);
        expect([recordOf(parsed.entry)]).toEqual(parsedByLdapts([message]));
      }),
    );
  });

  it('rejects exactly the malformed entries', () => {
    let rejections = 0;
    fc.assert(
      fc.property(entries, fc.nat(), fc.nat(255), (entry, offset, octet) => {
        const message = entryMessage(entry);
        message[offset % message.length] = octet;
        fc.pre(isEntry(message));
        const expected = outcomeOf(() => requireEntry(message));
        rejections += expected === 'rejected' ? 1 : 0;
        expect(outcomeOf(() => parse(message))).toBe(expected);
      }),
    );
    // Accepting all entries would also satisfy the property.
    expect(rejections).toBeGreaterThan(0);
  });
});

/** Returns whether the operation still has the tag of an entry. */
function isEntry(message: Buffer): boolean {
  const operation = message[1] < 0x80 ? 5 : 5 + message[1] - 0x80;
  return message[operation] === 0x64;
}

describe('CheckedSocket', () => {
  it('returns small and large entries in order, however the bytes are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(entries, fc.boolean()), { maxLength: 6 }),
        fc.array(fc.nat(200_000), { maxLength: 4 }),
        async (some, cuts) => {
          const messages = some.map(([entry, isLarge]) =>
            entryMessage(isLarge ? enlarged(entry) : entry),
          );
          const bytes = Buffer.concat(messages);
          const checked = startChecked();
          let start = 0;
          for (const end of [...cuts, bytes.length].sort((a, b) => a - b)) {
            if (end > start && start < bytes.length) {
              checked.receive(bytes.subarray(start, end));
            }
            start = Math.min(end, bytes.length);
            await nextTurn();
          }
          await turnsUntil(() => checked.received().length >= messages.length);
          expect(checked.received()).toEqual(parsedByLdapts(messages));
          expect(checked.errors).toEqual([]);
          expect(checked.passed).toEqual([]);
        },
      ),
      { numRuns: 50 * Number(process.env.RUNS || 1) },
    );
  });

  it('yields to the event loop while it parses an entry with 89,000 values', async () => {
    const members = Array.from({ length: 89_000 }, (_, index) =>
      Buffer.from(`uid=person${index},cn=users,cn=accounts,dc=example,dc=test`),
    );
    const message = entryMessage({
      dn: 'x',
      attributes: [['member', members]],
    });
    const checked = startChecked();
    checked.receive(message);
    expect(
      await turnsUntil(() => checked.received().length > 0),
    ).toBeGreaterThan(2);
    expect(checked.received()).toEqual(parsedByLdapts([message]));
  });

  const small = entryMessage({ dn: 'small', attributes: [] });
  const large = entryMessage(enlarged({ dn: 'large', attributes: [] }));

  it('passes the end of a search on to ldapts after an entry, and then no message', async () => {
    const checked = startChecked();
    checked.receive(Buffer.concat([large, searchDone(REQUEST_ID)]));
    await turnsUntil(() => checked.passed.length > 0);
    const parser = new MessageParser();
    const parsed: unknown[] = [];
    parser.on('message', message => parsed.push(message));
    parser.read(Buffer.concat(checked.passed), new Map());
    expect(parsed).toEqual([
      expect.objectContaining({ messageId: REQUEST_ID, attributes: [] }),
      expect.objectContaining({ messageId: REQUEST_ID, status: 0 }),
    ]);
    expect(checked.received()).toEqual(parsedByLdapts([large]));
    checked.receive(small);
    await turnsUntil(() => checked.errors.length > 0);
    expect(checked.errors).toEqual([expect.any(ProtocolError)]);
  });

  it('fails at a malformed large entry and drops the messages after it', async () => {
    const malformed = Buffer.from(large);
    // Changes the tag of the value.
    malformed[malformed.length - LARGE_VALUE.length - 5] ^= 1;
    const checked = startChecked();
    checked.receive(
      Buffer.concat([small, malformed, small, searchDone(REQUEST_ID)]),
    );
    await turnsUntil(() => checked.errors.length > 0);
    expect(checked.errors).toEqual([expect.any(ProtocolError)]);
    expect(checked.received()).toEqual(parsedByLdapts([small]));
    expect(checked.passed).toEqual([]);
    expect([checked.socket.isOpen, checked.connected.destroyed]).toEqual([
      false,
      true,
    ]);
  });

  it.each([
    ['an entry', Buffer.from(small).fill(REQUEST_ID + 1, 4, 5)],
    ['the end of a search', searchDone(REQUEST_ID + 1)],
    ['a notice of disconnection', searchDone(0)],
    ['bytes that are not a message', Buffer.from('HTTP/1.1 400')],
  ])('fails at %s that does not respond to the request', async (_how, data) => {
    const checked = startChecked();
    checked.receive(data);
    await turnsUntil(() => checked.errors.length > 0);
    expect(checked.errors).toEqual([expect.any(ProtocolError)]);
    expect([checked.received(), checked.passed]).toEqual([[], []]);
  });

  it('is not detached for TLS when it has received further bytes', async () => {
    const checked = startChecked();
    checked.receive(
      Buffer.concat([searchDone(REQUEST_ID), small.subarray(0, 3)]),
    );
    await turnsUntil(() => checked.passed.length > 0);
    expect(() => checked.socket.detach()).toThrow(ProtocolError);
  });
});
