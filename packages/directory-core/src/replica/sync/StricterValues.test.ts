import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { emptyUser, type User } from '../../directory/records';
import type {
  AgreementEntry,
  GroupEntry,
  ReplicaBatch,
  UserEntry,
} from '../tables/entries';
import { ReplicaTables } from '../tables/ReplicaTables';
import { PendingReads } from './PendingReads';
import { StricterValues } from './StricterValues';
import { TableWriter } from './TableWriter';

const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 0, 1);

type Account = Partial<UserEntry['account']>;

function userOf(user: Partial<User> = {}, account: Account = {}): UserEntry {
  const { username = 'alice', locked = false } = user;
  return {
    uniqueId: 'id-alice',
    user: { ...emptyUser(), username, ...user } as User,
    account: {
      principalNames: [`${username}@EXAMPLE.TEST`],
      locked,
      isFoundByUsername: true,
      ...account,
    },
  };
}

function groupOf(
  members: readonly string[],
  groupname = 'staff',
): GroupEntry & { readonly uniqueId: string } {
  return {
    uniqueId: 'id-staff',
    group: { groupname } as GroupEntry['group'],
    members,
    sponsors: [],
  };
}

describe('StricterValues', () => {
  let now = 0;
  let tables: ReplicaTables;
  let stricter: StricterValues;
  let writer: TableWriter;
  let pending: PendingReads;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    jest.spyOn(Date, 'now').mockReturnValue(NOW);
    tables = new ReplicaTables();
    pending = new PendingReads();
    const logger = new RecordingLogger();
    stricter = new StricterValues({ tables, logger, pending });
    writer = new TableWriter({
      tables,
      restrict: batch => stricter.restrict(batch),
    });
  });
  afterEach(() => jest.restoreAllMocks());

  const writeUser = (
    entry: UserEntry | undefined,
    {
      key = `uid=${entry?.user.username}`,
      id = 'id-alice',
      createdAt = undefined as Date | undefined,
    } = {},
  ) =>
    writer.write({ kind: 'users', entries: [{ id, key, entry, createdAt }] });
  const writeGroup = (entry: GroupEntry, key = 'cn=staff', createdAt?: Date) =>
    writer.write({
      kind: 'groups',
      entries: [{ id: entry.uniqueId!, key, entry, createdAt }],
    });
  const writeAgreement = (signers: readonly string[], createdAt?: Date) => {
    const entry: AgreementEntry = {
      name: 'CLA',
      enabled: true,
      signers: new Set(signers),
    };
    writer.write({
      kind: 'agreements',
      entries: [{ id: 'cla', key: 'cn=cla', entry, createdAt }],
    });
  };

  /** Returns the entries to read when values are released. */
  const heldEntries = () => {
    const last = now;
    now += 11 * MINUTE_MS;
    const held = pending.due().flatMap(({ refs }) => refs());
    now = last;
    return held;
  };
  const rowOf = (key = 'uid=alice') => tables.users.served.get(key);
  const accountOf = () => tables.users.accountOf(rowOf()!);
  const membersOf = (key = 'cn=staff') => tables.groups.graph.get(key)?.members;

  it('keeps nothing before a switch', () => {
    writeUser(userOf({ is_private: true, locked: true }));
    writeUser(userOf({ is_private: false }));
    expect(rowOf()?.record).toMatchObject({ is_private: false });
    expect(rowOf()?.record.locked).not.toBe(true);
    expect(stricter.isActive).toBe(false);
  });

  describe('after a switch', () => {
    /** Starts one minute after the tables matched the previous server. */
    const switchServer = () => stricter.start(MINUTE_MS);

    const locked = { locked: true };
    const early = { expires: new Date(NOW) };
    const late = { expires: new Date(NOW + MINUTE_MS) };

    it.each<[string, UserEntry, UserEntry, UserEntry, number]>([
      [
        'keeps a private flag and accepts other differences',
        userOf({ is_private: true, surname: 'Old' }),
        userOf({ surname: 'New' }),
        userOf({ is_private: true, surname: 'New' }),
        1,
      ],
      [
        'accepts private flags and locks that the tables lack',
        userOf(),
        userOf({ is_private: true, locked: true }),
        userOf({ is_private: true, locked: true }),
        0,
      ],
      [
        'keeps the lock of a record and of an account',
        userOf(locked),
        userOf(),
        userOf(locked),
        1,
      ],
      [
        'keeps the lock of an account without a record of it',
        userOf({}, locked),
        userOf(),
        userOf({}, locked),
        1,
      ],
      [
        'keeps an earlier expiry',
        userOf({}, early),
        userOf({}, late),
        userOf({}, early),
        1,
      ],
      [
        'keeps the only expiry',
        userOf({}, early),
        userOf(),
        userOf({}, early),
        1,
      ],
      [
        'accepts an earlier expiry',
        userOf({}, late),
        userOf({}, early),
        userOf({}, early),
        0,
      ],
    ])('%s', (_, before, read, kept, held) => {
      writeUser(before);
      switchServer();
      writeUser(read);
      expect(rowOf()?.record).toEqual(kept.user);
      expect(accountOf()).toMatchObject(kept.account!);
      expect(heldEntries()).toHaveLength(held);
    });

    it.each([
      ['without a readable time of creation', undefined, false],
      ['created 6 minutes before the last confirmation', -7, false],
      ['created 4 minutes before the last confirmation', -5, true],
      ['created after the last confirmation', 0, true],
    ])('decides about a deletion: an entry %s', (_, minutes, isServed) => {
      const createdAt =
        minutes === undefined
          ? undefined
          : new Date(NOW + minutes * MINUTE_MS + 1);
      switchServer();
      writeUser(userOf(), { createdAt });
      writeGroup(groupOf(['uid=x']), 'cn=staff', createdAt);
      writeAgreement(['uid=x'], createdAt);
      expect(rowOf() !== undefined).toBe(isServed);
      expect(membersOf() !== undefined).toBe(isServed);
      expect(tables.agreements.size).toBe(isServed ? 1 : 0);
      expect(heldEntries()).toHaveLength(isServed ? 0 : 3);
    });

    it('accepts deletions', () => {
      writeUser(userOf({ is_private: true }));
      switchServer();
      writeUser(undefined, { key: 'uid=alice' });
      expect(rowOf()).toBeUndefined();
      expect(heldEntries()).toHaveLength(0);
    });

    it('keeps users out of groups and accepts removals', () => {
      writeGroup(groupOf(['uid=a', 'uid=b', 'cn=nested']));
      switchServer();
      writeGroup(groupOf(['uid=c', 'uid=a', 'cn=nested']));
      expect(membersOf()).toEqual(['uid=a', 'cn=nested']);
      // Both the member that was not in the tables and a removed one.
      writeGroup(groupOf(['uid=a', 'uid=b', 'cn=nested']));
      expect(membersOf()).toEqual(['uid=a', 'cn=nested']);
    });

    it('accepts a group whose members are in another order', () => {
      writeGroup(groupOf(['uid=a', 'uid=b']));
      switchServer();
      writeGroup(groupOf(['uid=b', 'uid=a']));
      expect(heldEntries()).toHaveLength(0);
    });

    it('keeps a signature away that the tables lack', () => {
      writeAgreement(['uid=a', 'uid=b']);
      switchServer();
      writeAgreement(['uid=b', 'uid=c']);
      expect(tables.agreements.get('cla')?.signers).toEqual(new Set(['uid=b']));
    });

    describe('when an entry has another name on the server', () => {
      beforeEach(() => {
        writeUser(userOf());
        writeGroup(groupOf(['uid=alice']));
        writeAgreement(['uid=alice']);
        switchServer();
        writeUser(userOf({ username: 'alicia' }));
      });

      it('keeps the name of a user', () => {
        expect(rowOf()?.record.username).toBe('alice');
        expect(accountOf().principalNames).toEqual(['alice@EXAMPLE.TEST']);
        expect(rowOf('uid=alicia')).toBeUndefined();
      });

      it('keeps the name of a group and its links', () => {
        writeGroup(groupOf(['uid=alice'], 'crew'), 'cn=crew');
        expect(tables.groups.served.get('cn=staff')?.name).toBe('staff');
        expect(membersOf()).toEqual(['uid=alice']);
        expect(membersOf('cn=crew')).toBeUndefined();
      });

      it('keeps a name that the DN does not contain', () => {
        writeUser(userOf({ username: 'alicia' }), { key: 'uid=alice' });
        writeGroup(groupOf(['uid=alice'], 'crew'));
        expect(rowOf()?.record.username).toBe('alice');
        expect(accountOf().principalNames).toEqual(['alice@EXAMPLE.TEST']);
        expect(tables.groups.served.get('cn=staff')?.name).toBe('staff');
        expect(heldEntries()).toHaveLength(2);
      });

      it('keeps memberships and signatures under that name', () => {
        writeGroup(groupOf(['uid=alicia']));
        writeAgreement(['uid=alicia']);
        expect(membersOf()).toEqual(['uid=alice']);
        expect(tables.agreements.get('cla')?.signers).toEqual(
          new Set(['uid=alice']),
        );
      });

      it('does not mistake a new user with that name for it', () => {
        const createdAt = new Date(NOW);
        const other = { ...userOf({ username: 'alicia' }), uniqueId: 'id-2' };
        writeUser(other, { id: 'id-2', createdAt });
        writeGroup(groupOf(['uid=alicia']));
        expect(membersOf()).toEqual([]);
      });
    });

    it('releases the entries after 10 minutes', () => {
      writeUser(userOf({ is_private: true }));
      writeGroup(groupOf([]));
      switchServer();
      writeUser(userOf());
      writeGroup(groupOf(['uid=alice']));
      now += 10 * MINUTE_MS - 1;
      expect(stricter.isActive).toBe(true);
      expect(pending.due()).toEqual([]);
      now += 1;
      expect(pending.due().flatMap(({ refs }) => refs())).toEqual([
        { kind: 'users', id: 'id-alice' },
        { kind: 'groups', id: 'id-staff' },
      ]);
      writeUser(userOf());
      expect(rowOf()?.record.is_private).not.toBe(true);
      expect(stricter.isActive).toBe(false);
    });

    it('keeps the entries for 10 more minutes after another switch', () => {
      writeUser(userOf({ is_private: true }));
      switchServer();
      writeUser(userOf());
      now += 9 * MINUTE_MS;
      switchServer();
      now += 9 * MINUTE_MS;
      writeUser(userOf());
      expect(rowOf()?.record.is_private).toBe(true);
      now += MINUTE_MS;
      expect(pending.due()).not.toEqual([]);
    });

    it('restricts the same in a comparison', () => {
      writeUser(userOf({ is_private: true }));
      switchServer();
      const check = writer.startCheck();
      const batch: ReplicaBatch = {
        kind: 'users',
        entries: [{ id: 'id-alice', key: 'uid=alice', entry: userOf() }],
      };
      check.compare(batch);
      expect([...check.differences()]).toEqual([]);
    });
  });
});
