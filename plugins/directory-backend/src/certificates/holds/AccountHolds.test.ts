import { mockServices } from '@backstage/backend-test-utils';
import fc from 'fast-check';
import {
  DirectoryUnavailableError,
  type SubjectQuery,
  type SubjectState,
} from '@directory-gateway/directory-core';
import { person } from '@directory-gateway/directory-core/testUtils';
import { openAuthorities } from '../../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../../__testUtils__/certificates/PermissiveAuthority';
import { withDatabase } from '../../__testUtils__/withDatabase';
import { openDatabase } from '../../openDatabase';
import { RECORDS } from '../records/certificateRows';
import { importRecords } from '../records/importRecords';
import { GatewayChanges } from '../GatewayChanges';
import { AccountHolds } from './AccountHolds';

jest.setTimeout(120_000);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const { signal } = new AbortController();

const OUTAGES = ['none', 'replica', 'lookups', 'rights', 'ca'] as const;
type Outage = (typeof OUTAGES)[number];
type Account = { name: string; locked: boolean };

/** A directory, a CA and the job, whose clock the test sets. */
class World {
  /** Accounts by ID, in the directory and in the replica. */
  readonly accounts = new Map<string, Account>();
  outage: Outage = 'none';
  readonly config = { enabled: true };
  readonly replica = { isServing: true, server: 'a' };
  /** Whether the CA reports neither success nor an error. */
  isCaSilent = false;
  /** Whether the CA changes certificates, but its responses are lost. */
  isResponseLost = false;
  now = Date.now();
  readonly authority = new PermissiveAuthority();
  readonly events = new Array<string>();
  readonly serialNumbers = new Map<bigint, string>();
  readonly #opened: ReturnType<typeof openAuthorities>;
  holds: AccountHolds;

  constructor(readonly database: Awaited<ReturnType<typeof openDatabase>>) {
    const { authority } = this;
    const viaCa = async <T>(work: () => Promise<T>) => {
      if (this.outage === 'ca') {
        throw new Error('The CA is not available');
      }
      const result = this.isCaSilent ? undefined : await work();
      if (this.isResponseLost) {
        throw new Error('The response was lost');
      }
      return result;
    };
    this.#opened = openAuthorities(database, {
      freeipa: {
        cacn: 'permissive',
        choosesSerialNumbers: true,
        sign: request => authority.sign(request),
        get: serialNumber => authority.get(serialNumber),
        hold: request => viaCa(() => authority.hold(request)),
        release: request => viaCa(() => authority.release(request)),
        revoke: request => viaCa(() => authority.revoke(request)),
      },
    });
    this.holds = this.createHolds();
  }

  createHolds(): AccountHolds {
    const auditor = mockServices.auditor.mock({
      createEvent: async ({ eventId }) => ({
        success: async () => void this.events.push(eventId),
        fail: async () => void this.events.push(`${eventId} failed`),
      }),
    });
    this.holds = new AccountHolds({
      auditor,
      changes: new GatewayChanges({ auditor, now: () => this.now }),
      authorities: this.#opened.authorities,
      config: this.config,
      logger: mockServices.logger.mock(),
      database: this.database,
      records: this.#opened.records,
      replica: this.replica,
      replicated: {
        find: query =>
          [...this.accounts].flatMap(([id, account]) =>
            'username' in query && account.name === query.username
              ? principalOf(id, account)
              : [],
          ),
        usernameOf: id => this.accounts.get(id)?.name,
        someStableIds: count => [...this.accounts.keys()].slice(0, count),
      },
      subjects: {
        findSubject: async (query: SubjectQuery): Promise<SubjectState> => {
          if (this.outage === 'lookups') {
            throw new DirectoryUnavailableError('Down', {
              reason: 'unreachable',
            });
          }
          const visible = this.outage === 'rights' ? new Map() : this.accounts;
          const account = visible.get(query.stableId);
          if (account) {
            const principal = principalOf(query.stableId, account);
            return { kind: 'found', principal };
          }
          return query.witnesses.some(id => visible.has(id))
            ? { kind: 'deleted', server: 'a' }
            : { kind: 'unknown' };
        },
      },
      now: () => new Date(this.now),
    });
    return this.holds;
  }

  /** Adds an account and issues a certificate for it. */
  async add(name: string, id = name): Promise<bigint> {
    this.accounts.set(id, { name, locked: false });
    const { id: record, serialNumber } = await this.#opened.issue({
      owner: { username: name, stableId: id },
    });
    this.serialNumbers.set(serialNumber, id);
    await this.database(RECORDS)
      .where({ id: record })
      .update({ not_after: new Date(this.now + 365 * DAY_MS) });
    return serialNumber;
  }

  /** Adds accounts `user0`, `user1` and so on. */
  async addMany(count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, n) => `user${n}`);
    for (const name of names) {
      await this.add(name);
    }
    return names;
  }

  lock(id: string, locked = true): void {
    this.accounts.set(id, { ...this.accounts.get(id)!, locked });
  }

  async run(minutesLater = 0): Promise<void> {
    this.now += minutesLater * MINUTE_MS;
    this.replica.isServing = this.outage !== 'replica';
    await this.holds.run(signal);
  }

  /** Reason codes by account; those of usable certificates are missing. */
  async reasons(): Promise<Record<string, number>> {
    const reasons: Record<string, number> = {};
    for (const [serialNumber, id] of this.serialNumbers) {
      const issued = await this.authority.get(serialNumber);
      if (issued?.revocation) {
        reasons[id] = issued.revocation.reason;
      }
    }
    return reasons;
  }
}

function principalOf(stableId: string, { name, locked }: Account) {
  return { ...person(name), stableId, locked, server: 'a' };
}

describe('AccountHolds', () => {
  const database = withDatabase();
  let world: World;

  async function createWorld(): Promise<World> {
    const knex = await openDatabase(database);
    for (const table of [
      RECORDS,
      'directory_certificate_holds',
      'directory_hold_approvals',
    ]) {
      await knex(table).delete();
    }
    return new World(knex);
  }

  beforeEach(async () => {
    world = await createWorld();
    await world.addMany(4);
  });

  it('holds after two lookups ten minutes apart, and releases on unlock', async () => {
    world.lock('user0');
    world.accounts.delete('user1');
    await world.run();
    await world.run(9);
    expect(await world.reasons()).toEqual({});
    await world.run(1);
    expect(await world.reasons()).toEqual({ user0: 6, user1: 6 });
    world.lock('user0', false);
    world.accounts.set('user1', { name: 'user1', locked: false });
    await world.run();
    expect(await world.reasons()).toEqual({});
    expect(world.events.toSorted()).toEqual([
      ...['certificate-hold', 'certificate-hold'],
      ...['certificate-release', 'certificate-release'],
    ]);
  });

  it('releases a hold whose response was lost', async () => {
    world.lock('user0');
    await world.run();
    world.isResponseLost = true;
    await world.run(10);
    expect(await world.reasons()).toEqual({ user0: 6 });
    world.isResponseLost = false;
    world.lock('user0', false);
    await world.run();
    expect(await world.reasons()).toEqual({});
    expect(world.events).toEqual([
      'certificate-hold failed',
      'certificate-release',
    ]);
  });

  it('starts again when a lookup finds the account active', async () => {
    world.lock('user0');
    await world.run();
    world.lock('user0', false);
    await world.run(5);
    world.lock('user0');
    await world.run(5);
    await world.run(5);
    expect(await world.reasons()).toEqual({});
    await world.run(5);
    expect(await world.reasons()).toEqual({ user0: 6 });
  });

  it('revokes the certificates of deleted accounts after 7 days and a new lookup', async () => {
    world.accounts.delete('user0');
    await world.run();
    await world.run(10);
    world.now += 7 * DAY_MS;
    world.outage = 'lookups';
    await world.run();
    expect(await world.reasons()).toEqual({ user0: 6 });
    world.outage = 'none';
    await world.run();
    expect(await world.reasons()).toEqual({ user0: 5 });
  });

  it('counts the 7 days from the deletion of a locked account', async () => {
    world.lock('user0');
    await world.run();
    await world.run(10);
    world.now += 30 * DAY_MS;
    world.accounts.delete('user0');
    await world.run();
    await world.run(10);
    expect(await world.reasons()).toEqual({ user0: 6 });
    world.now += 7 * DAY_MS;
    await world.run();
    expect(await world.reasons()).toEqual({ user0: 5 });
  });

  it('does not put certificates of a renamed account on hold', async () => {
    world.accounts.set('user0', { name: 'married', locked: false });
    // Another account gets the name.
    world.accounts.set('other', { name: 'user0', locked: true });
    await world.run();
    await world.run(10);
    expect(await world.reasons()).toEqual({});
  });

  it.each(['replica', 'lookups', 'rights'] as const)(
    'changes nothing during a fault: %s',
    async outage => {
      world.lock('user0');
      world.accounts.delete('user1');
      world.outage = outage;
      await world.run();
      await world.run(10);
      await world.run(10);
      expect(await world.reasons()).toEqual({});
    },
  );

  it('neither records nor releases holds of others', async () => {
    const [serialNumber] = world.serialNumbers.keys();
    await world.authority.hold(serialNumber);
    world.lock('user0');
    await world.run();
    await world.run(10);
    world.lock('user0', false);
    await world.run(10);
    expect(await world.reasons()).toEqual({ user0: 6 });
    expect(world.events).toEqual([]);
  });

  it('only releases while placing holds is off', async () => {
    world.lock('user0');
    world.accounts.delete('user1');
    await world.run();
    await world.run(10);
    world.config.enabled = false;
    world.createHolds();
    world.lock('user0', false);
    world.lock('user2');
    await world.run(10);
    world.now += 8 * DAY_MS;
    await world.run(10);
    expect(await world.reasons()).toEqual({ user1: 6 });
  });

  it('releases and revokes holds that 0.2.0 has recorded', async () => {
    const [locked, deleted] = [...world.serialNumbers.keys()];
    for (const [serialNumber, cause] of [
      [locked, 'locked'],
      [deleted, 'deleted'],
    ] as const) {
      await world.authority.hold(serialNumber);
      await world.database('directory_certificate_holds').insert({
        serial_number: String(serialNumber),
        cause,
        caused_at: new Date(world.now - 8 * DAY_MS),
        held_at: new Date(world.now - 8 * DAY_MS),
        is_confirmed: true,
        approval_id: 'approved',
      });
    }
    await importRecords(world.database);
    world.accounts.delete('user1');
    await world.run();
    expect(await world.reasons()).toEqual({ user1: 5 });
    await importRecords(world.database);
    await world.run();
    expect(await world.reasons()).toEqual({ user1: 5 });
    expect(
      await world.database('directory_certificate_holds').whereNull('ended_at'),
    ).toEqual([]);
  });

  it('tries again later, with one audit event, if the CA does not find the certificate', async () => {
    world.lock('user0');
    await world.run();
    world.isCaSilent = true;
    await world.run(10);
    world.isCaSilent = false;
    await world.run(59);
    expect(await world.reasons()).toEqual({});
    expect(world.events).toEqual(['certificate-hold failed']);
    await world.run(1);
    expect(await world.reasons()).toEqual({ user0: 6 });
    world.accounts.delete('user0');
    await world.run();
    world.now += 7 * DAY_MS;
    world.isCaSilent = true;
    await world.run();
    await world.run(60);
    expect(await world.reasons()).toEqual({ user0: 6 });
    world.isCaSilent = false;
    await world.run(60);
    expect(await world.reasons()).toEqual({ user0: 5 });
    expect(world.events).toEqual([
      ...['certificate-hold failed', 'certificate-hold'],
      ...['certificate-revoke failed', 'certificate-revoke'],
    ]);
  });

  it('keeps a hold that the CA has not ended', async () => {
    world.lock('user0');
    await world.run();
    await world.run(10);
    world.lock('user0', false);
    world.isCaSilent = true;
    await world.run();
    await world.run(1);
    expect(await world.reasons()).toEqual({ user0: 6 });
    world.isCaSilent = false;
    await world.run(1);
    expect(await world.reasons()).toEqual({});
    expect(world.events).toEqual([
      'certificate-hold',
      ...['certificate-release failed', 'certificate-release'],
    ]);
  });

  it.each([
    // More than half of the accounts.
    [4, 2, 3],
    // More than 20 accounts, and more than 2 %.
    [100, 20, 21],
  ])(
    'needs an override: of %i accounts, for more than %i',
    async (total, most, above) => {
      world = await createWorld();
      const names = await world.addMany(total);
      names.slice(0, most).forEach(name => world.lock(name));
      await world.run();
      await world.run(10);
      expect(Object.keys(await world.reasons())).toHaveLength(most);
      names.slice(0, most).forEach(name => world.lock(name, false));
      await world.run();
      world.events.length = 0;

      names.slice(0, above).forEach(name => world.lock(name));
      await world.run();
      await world.run(10);
      await world.run(10);
      expect(await world.reasons()).toEqual({});
      expect(world.events).toEqual(['certificate-holds-limit failed']);
      await world.holds.override({ count: above + 1, actor: 'root' });
      await world.run();
      expect(await world.reasons()).toEqual({});
      await world.holds.override({ count: above, actor: 'root' });
      await world.run();
      expect(Object.keys(await world.reasons())).toHaveLength(above);
    },
  );

  it('converges after faults and changes, without a wrong hold', async () => {
    const names = fc.constantFrom('user0', 'user1', 'user2', 'user3');
    const outages = fc.constantFrom(...OUTAGES);
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.record({ lock: names }),
            fc.record({ unlock: names }),
            fc.record({ remove: names }),
            fc.record({ outage: outages }),
            fc.record({ minutes: fc.constantFrom(0, 5, 10) }),
          ),
          { maxLength: 40 },
        ),
        async steps => {
          world = await createWorld();
          await world.addMany(12);
          /** Accounts that were not active at a run. */
          const causes = new Set<string>();
          const wrong = new Array<string>();
          for (const step of steps) {
            if ('minutes' in step) {
              for (const [id] of await inactive()) {
                causes.add(id);
              }
              await world.run(step.minutes);
              wrong.push(
                ...Object.keys(await world.reasons()).filter(
                  id => !causes.has(id),
                ),
              );
            } else if ('outage' in step) {
              world.outage = step.outage;
            } else if ('remove' in step) {
              world.accounts.delete(step.remove);
            } else {
              const [id] = Object.values(step);
              if (world.accounts.has(id)) {
                world.lock(id, 'lock' in step);
              }
            }
          }
          expect(wrong).toEqual([]);
          world.outage = 'none';
          await world.run();
          await world.run(10);
          await world.run();
          expect(await world.reasons()).toEqual(
            Object.fromEntries(await inactive()),
          );
        },
      ),
      { numRuns: 20 * Number(process.env.RUNS || 1) },
    );
  });

  async function inactive(): Promise<[string, number][]> {
    return [...world.serialNumbers.values()].flatMap(id =>
      world.accounts.get(id)?.locked === false
        ? []
        : [[id, 6] as [string, number]],
    );
  }
});
