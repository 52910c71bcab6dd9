import fc from 'fast-check';
import { BerWriter, Client, MessageParser, SearchEntry } from 'ldapts';
import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProtocolError } from './BerCursor';
import { checkMessages } from './checkMessages';
import { checkLdapMessage, isLargeEntry, readLargeEntry } from './ldapMessages';

interface RandomEntry {
  readonly dn: string;
  readonly attributes: readonly (readonly [string, readonly Buffer[]])[];
}

const REQUEST_ID = 7;

/** Makes every entry that has it a large one. */
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

/** The entries as an unmodified parser of ldapts returns them. */
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
  return message instanceof SearchEntry
    ? message.toObject(['cn', 'sn'], [])
    : message;
}

/** A client whose messages are checked, with what reaches ldapts. */
function startChecked() {
  const client = new Client({ url: 'ldap://127.0.0.1:1' });
  const received: unknown[] = [];
  const errors: Error[] = [];
  checkMessages(client, { onProtocolError: error => errors.push(error) });
  const parser: EventEmitter & {
    read(data: Buffer, pending: ReadonlyMap<string, unknown>): void;
  } = Reflect.get(client, 'messageParser');
  parser.on('message', message => received.push(recordOf(message)));
  const pending = new Map([[String(REQUEST_ID), {}]]);
  return {
    received,
    errors,
    pending,
    receive: (data: Buffer) => parser.read(data, pending),
  };
}

async function turnsUntil(isDone: () => boolean): Promise<number> {
  let turns = 0;
  while (!isDone() && turns < 100_000) {
    await nextTurn();
    turns++;
  }
  return turns;
}

describe('readLargeEntry', () => {
  it('returns what ldapts returns for random entries', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async entry => {
        const message = entryMessage(entry);
        const read = await readLargeEntry(message);
        expect(read.messageId).toBe(REQUEST_ID);
        expect([recordOf(read)]).toEqual(parsedByLdapts([message]));
      }),
      { numRuns: 300 },
    );
  });

  it('rejects exactly the messages that checkLdapMessage rejects', async () => {
    let rejections = 0;
    await fc.assert(
      fc.asyncProperty(
        entries,
        fc.nat(),
        fc.nat(255),
        async (entry, offset, octet) => {
          const message = entryMessage(entry);
          message[offset % message.length] = octet;
          fc.pre(isEntry(message));
          const expected = outcomeOf(() => checkLdapMessage(message));
          const read = await readLargeEntry(message).then(
            ({ messageId }) => messageId,
            error => error.name,
          );
          rejections += expected === 'ProtocolError' ? 1 : 0;
          expect(read).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
    expect(rejections).toBeGreaterThan(50);
  });
});

/** Whether the tag of the operation is still that of an entry. */
function isEntry(message: Buffer): boolean {
  const operation = message[1] < 0x80 ? 5 : 5 + message[1] - 0x80;
  return message[operation] === 0x64;
}

function outcomeOf(check: () => number): number | string {
  try {
    return check();
  } catch (error) {
    return (error as Error).name;
  }
}

describe('checkMessages', () => {
  it('uses the version of ldapts whose private parser it was written for', () => {
    const ldapts = dirname(dirname(require.resolve('ldapts')));
    const { version } = JSON.parse(
      readFileSync(join(ldapts, 'package.json'), 'utf8'),
    );
    expect(version).toBe('9.2.0');
  });

  it('passes small and large entries on in order, however the bytes are cut', async () => {
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
            checked.receive(bytes.subarray(start, end));
            start = Math.min(end, bytes.length);
            await nextTurn();
          }
          await turnsUntil(() => checked.received.length >= messages.length);
          expect(checked.received).toEqual(parsedByLdapts(messages));
          expect(checked.errors).toEqual([]);
        },
      ),
      { numRuns: 50 },
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
    expect(await turnsUntil(() => checked.received.length > 0)).toBeGreaterThan(
      2,
    );
    expect(checked.received).toEqual(parsedByLdapts([message]));
  });

  const small = entryMessage({ dn: 'small', attributes: [] });
  const large = entryMessage(enlarged({ dn: 'large', attributes: [] }));

  it('reports a malformed large entry and drops the messages after it', async () => {
    const malformed = Buffer.from(large);
    // The tag of the value.
    malformed[malformed.length - LARGE_VALUE.length - 5] ^= 1;
    expect(isLargeEntry(malformed)).toBe(true);
    const checked = startChecked();
    checked.receive(Buffer.concat([small, malformed, small, large]));
    await turnsUntil(() => checked.errors.length > 0);
    checked.receive(small);
    await nextTurn();
    expect(checked.errors).toEqual([expect.any(ProtocolError)]);
    expect(checked.received).toEqual(parsedByLdapts([small]));
  });

  it('reports a large entry that does not respond to a pending request', async () => {
    const checked = startChecked();
    checked.pending.clear();
    checked.receive(large);
    await turnsUntil(() => checked.errors.length > 0);
    expect(checked.errors).toEqual([expect.any(ProtocolError)]);
    expect(checked.received).toEqual([]);
  });
});
