import { mockServices } from '@backstage/backend-test-utils';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import fc from 'fast-check';
import { person } from '../../__testUtils__/people';
import { withDatabase } from '../../__testUtils__/withDatabase';
import { DirectoryUnavailableError } from '../../directory/errors';
import type { Principal, SubjectQuery } from '../../directory/Principal';
import { openDatabase } from '../../openDatabase';
import { CertificateRecords } from '../CertificateRecords';
import { AccountHolds } from './AccountHolds';
import { HoldRecords } from './HoldRecords';

const MINUTE_MS = 60_000;
const LIMIT = 3;
const DAY_MS = 24 * 60 * MINUTE_MS;
const { signal } = new AbortController();

/** Accounts by ID, in one state of the directory. */
type Accounts = ReadonlyMap<
  string,
  { readonly name: string; readonly locked: boolean }
>;

/** A directory with two servers, of which `b` may lag behind `a`. */
class World {
  /** All states; the index is the number of changes. */
  readonly states: Accounts[] = [new Map()];
  readonly reached = { a: 0, b: 0 };
  server: 'a' | 'b' = 'a';
  outage: 'none' | 'replica' | 'lookups' | 'rights' | 'ca' = 'none';
  now = new Date('2026-12-01T12:00:00Z').getTime();
  readonly certificates = new Map<
    bigint,
    { readonly id: string; readonly since: number; state: string }
  >();
  readonly held = new Array<{ readonly id: string; readonly at: number }>();
  readonly wrong = new Array<string>();
  /** Index of the state at the last complete run. */
  checked = 0;
  #ids = 0;

  get latest(): Accounts {
    return this.states[this.states.length - 1];
  }

  get seen(): Accounts {
    return this.states[this.reached[this.server]];
  }

  change(
    edit: (accounts: Map<string, { name: string; locked: boolean }>) => void,
  ) {
    const next = new Map(this.latest);
    edit(next);
    this.states.push(next);
    this.reached.a = this.states.length - 1;
  }

  add(name: string) {
    if (![...this.latest.values()].some(account => account.name === name)) {
      this.change(accounts =>
        accounts.set(`ipaUniqueID=${this.#ids++}`, { name, locked: false }),
      );
    }
  }

  edit(
    name: string,
    edit: (
      id: string,
      accounts: Map<string, { name: string; locked: boolean }>,
    ) => void,
  ) {
    for (const [id, account] of this.latest) {
      if (account.name === name) {
        this.change(accounts => edit(id, accounts));
      }
    }
  }

  isActive(id: string, state: Accounts): boolean {
    return state.get(id)?.locked === false;
  }

  /**
   * Returns whether a hold is correct in any state since the last run and the
   * issuance.
   */
  isRight(serialNumber: bigint): boolean {
    const { id, since } = this.certificates.get(serialNumber)!;
    return this.states
      .slice(Math.max(this.checked, since))
      .some(state => !this.isActive(id, state));
  }
}

function principalOf(
  id: string,
  { name, locked }: { name: string; locked: boolean },
  server: string,
): Principal {
  return { ...person(name), stableId: id, locked, server };
}

const name = fc.constantFrom('alice', 'bob', 'carol', 'dave');

const events = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'add' as const,
        'lock' as const,
        'unlock' as const,
        'delete' as const,
      ),
      name,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rename' as const),
      name,
      to: name,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('issue' as const), name }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('replicate' as const) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('switch' as const),
      server: fc.constantFrom('a' as const, 'b' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('outage' as const),
      outage: fc.constantFrom(
        'none' as const,
        'replica' as const,
        'lookups' as const,
        'rights' as const,
        'ca' as const,
      ),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      minutes: fc.integer({ min: 1, max: 5 }),
    }),
  },
);

type Event = typeof events extends fc.Arbitrary<infer T> ? T : never;

describe('AccountHolds', () => {
  const database = withDatabase();

  async function open(world: World) {
    const knex = await openDatabase(database);
    for (const table of [
      'directory_certificates',
      'directory_certificate_holds',
      'directory_hold_approvals',
    ]) {
      await knex(table).delete();
    }
    await knex('directory_hold_state').update({ position: null, waiting: 0 });
    const certificates = new CertificateRecords(knex);
    const records = new HoldRecords(knex);
    const stateOf = (serialNumber: bigint) => {
      const { state } = world.certificates.get(serialNumber)!;
      const reason = { held: 6, revoked: 5 }[state];
      return {
        revocation: reason === undefined ? undefined : { reason },
      } as never;
    };
    const change = async (serialNumber: bigint, from: string[], to: string) => {
      if (world.outage === 'ca') {
        throw new AuthorityUnavailableError('The CA is not available');
      }
      const certificate = world.certificates.get(serialNumber)!;
      if (from.includes(certificate.state)) {
        certificate.state = to;
      }
      return stateOf(serialNumber);
    };
    const holds = new AccountHolds({
      auditor: mockServices.auditor.mock({
        createEvent: async () => ({ success: jest.fn(), fail: jest.fn() }),
      }),
      authority: {
        get: async serialNumber => stateOf(serialNumber),
        hold: async ({ serialNumber }) => {
          const { id, state } = world.certificates.get(serialNumber)!;
          if (world.outage !== 'ca' && state === 'valid') {
            world.held.push({ id, at: world.now });
            if (!world.isRight(serialNumber)) {
              world.wrong.push(`${serialNumber}`);
            }
          }
          return change(serialNumber, ['valid'], 'held');
        },
        release: ({ serialNumber }) => change(serialNumber, ['held'], 'valid'),
        revoke: ({ serialNumber }) =>
          change(serialNumber, ['valid', 'held'], 'revoked'),
      },
      config: { maxPerHour: LIMIT, revokeDeletedAfterMs: 7 * DAY_MS },
      logger: new RecordingLogger(),
      records,
      replica: {
        get isServing() {
          return world.outage !== 'replica';
        },
        get server() {
          return world.server;
        },
        get confirmed() {
          const { a, b } = world.reached;
          const usn = world.reached[world.server];
          return world.outage === 'replica'
            ? undefined
            : {
                server: world.server,
                usn,
                requestedAt: performance.now(),
                replicated: {
                  generation: 'g',
                  latest: new Map([
                    [
                      '1',
                      String(world.server === 'a' ? a : b).padStart(9, '0'),
                    ],
                  ]),
                },
              };
        },
      },
      replicated: {
        find: query =>
          [...world.seen]
            .filter(
              ([, account]) =>
                'username' in query && account.name === query.username,
            )
            .map(([id, account]) => principalOf(id, account, world.server)),
        someStableIds: count => [...world.seen.keys()].slice(0, count),
      },
      subjects: {
        async findSubject({ stableId, witnesses }: SubjectQuery) {
          if (world.outage === 'lookups') {
            throw new DirectoryUnavailableError('Down', {
              reason: 'unreachable',
            });
          }
          const visible: Accounts =
            world.outage === 'rights' ? new Map() : world.seen;
          const account = visible.get(stableId);
          if (account) {
            return {
              kind: 'found',
              principal: principalOf(stableId, account, world.server),
            };
          }
          return witnesses.some(id => visible.has(id))
            ? { kind: 'deleted', server: world.server }
            : { kind: 'unknown' };
        },
      },
      now: () => new Date(world.now),
    });
    const issue = async (username: string) => {
      for (const [id, account] of world.seen) {
        if (account.name === username && !account.locked) {
          const serialNumber = BigInt(world.certificates.size + 1);
          world.certificates.set(serialNumber, {
            id,
            since: world.reached[world.server],
            state: 'valid',
          });
          await certificates.add({
            serialNumber,
            username,
            subjectId: id,
            profile: 'userCerts',
            label: undefined,
            publicKey: Buffer.alloc(0),
            notAfter: new Date(world.now + 365 * DAY_MS),
            lookupServer: world.server,
          });
          await knex('directory_certificates')
            .where({ serial_number: `${serialNumber}` })
            .update({ recorded_at: new Date(world.now) });
        }
      }
    };
    const run = async (minutes: number) => {
      world.now += minutes * MINUTE_MS;
      if (await holds.run(signal)) {
        world.checked = world.reached[world.server];
      }
    };
    return { holds, issue, records, run };
  }

  async function apply(
    event: Event,
    world: World,
    { issue, run }: Awaited<ReturnType<typeof open>>,
  ) {
    switch (event.kind) {
      case 'add':
        return world.add(event.name);
      case 'lock':
      case 'unlock':
        return world.edit(event.name, (id, accounts) =>
          accounts.set(id, { name: event.name, locked: event.kind === 'lock' }),
        );
      case 'delete':
        return world.edit(event.name, (id, accounts) => accounts.delete(id));
      case 'rename':
        if (
          ![...world.latest.values()].some(account => account.name === event.to)
        ) {
          world.edit(event.name, (id, accounts) =>
            accounts.set(id, { ...accounts.get(id)!, name: event.to }),
          );
        }
        return undefined;
      case 'issue':
        return issue(event.name);
      case 'replicate':
        world.reached.b = world.reached.a;
        return undefined;
      case 'switch':
        world.server = event.server;
        return undefined;
      case 'outage':
        world.outage = event.outage;
        return undefined;
      default:
        return run(event.minutes);
    }
  }

  it('holds all certificates of an account and counts accounts', async () => {
    const world = new World();
    const names = ['alice', 'bob', 'carol', 'dave', 'erin'];
    [...names, 'witness'].forEach(each => world.add(each));
    const { holds, issue, records, run } = await open(world);
    for (const username of names) {
      await issue(username);
      await issue(username);
    }
    names.forEach(each =>
      world.edit(each, (id, accounts) =>
        accounts.set(id, { name: each, locked: true }),
      ),
    );
    const held = () =>
      [...world.certificates.values()].filter(({ state }) => state === 'held');
    await run(2);
    expect(held()).toHaveLength(2 * LIMIT);
    await records.approve(
      { count: 2, approvedBy: 'root' },
      new Date(world.now),
    );
    await holds.run(signal);
    expect(held()).toHaveLength(2 * names.length);
  });

  it('places only correct holds, eventually places all of them, and never exceeds the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(events, { minLength: 10, maxLength: 60 }),
        async all => {
          const world = new World();
          world.add('witness');
          world.reached.b = world.reached.a;
          const subject = await open(world);
          for (const each of all) {
            await apply(each, world, subject);
          }
          // Faults end, and the servers are in sync again.
          world.outage = 'none';
          world.reached.b = world.reached.a;
          for (let n = 0; n < 30; n++) {
            await subject.run(21);
          }
          expect(world.wrong).toEqual([]);
          for (const { at } of world.held) {
            const inHour = world.held
              .filter(other => other.at >= at && other.at < at + 60 * MINUTE_MS)
              .map(({ id }) => id);
            expect(new Set(inHour).size).toBeLessThanOrEqual(LIMIT);
          }
          for (const { id, state } of world.certificates.values()) {
            const isActive = world.isActive(id, world.latest);
            expect([id, state]).toEqual([id, isActive ? 'valid' : 'held']);
          }
        },
      ),
      { numRuns: 40 * Number(process.env.RUNS || 1) },
    );
  });
});
