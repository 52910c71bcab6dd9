/* eslint-disable jest/no-export, jest/no-standalone-expect, jest/valid-title -- a suite for the tests of every adapter, with its name */
import type { JsonObject } from '@backstage/types';
import { startRealm, type Realm } from '@directory-gateway/realm';
import assert from 'node:assert';
import { normalizeDn } from '../connection/DistinguishedName';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  type CurrentPosition,
  type EntryRef,
  type ListedChanges,
  type OnBatch,
  type ReadEntry,
  Replica,
  ReplicaDirectory,
  replicaKinds,
  type ReplicaSource,
  type UserEntry,
} from '@directory-gateway/directory-core';
import {
  addEntry,
  addUser,
  agreementDn,
  context,
  createGuard,
  eventually,
  groupDn,
  renamed,
  userDn,
  withdrawn,
} from '@directory-gateway/directory-core/testUtils';
import { FaultProxy } from './FaultProxy';

/** Longer than a position is cached. */
const NEW_POSITION_MS = 250;

/** Longer than a write takes to become visible. */
const COMMIT_MS = 21_000;

/** Longer than a write takes to be replicated. */
const REPLICATION_MS = 10 * 60_000;

/** Longer than the right to search for positions is cached. */
const RIGHT_MS = 61_000;

/** Container of preserved users. */
const DELETED_USERS =
  'cn=deleted users,cn=accounts,cn=provisioning,dc=example,dc=test';

/** An adapter on a realm. */
export interface ReplicaSourceSubject {
  readonly source: ReplicaSource;
  close(): void;
}

/** Opens an adapter; `ldap` overrides keys of `directory.ldap`. */
type OpenSource = (realm: Realm, ldap?: JsonObject) => ReplicaSourceSubject;

/** Entries that were read, as `kind id`. */
interface Poll extends ListedChanges {
  readonly read: ReadonlyMap<string, ReadEntry>;
  /** The same, in the order in which they were read. */
  readonly ids: readonly string[];
}

/** Follows a source like the replica does. */
class Follower {
  readonly #source: ReplicaSource;
  readonly #skip: (ms: number) => void;
  #position: CurrentPosition | undefined;

  constructor(source: ReplicaSource, skip: (ms: number) => void) {
    this.#source = source;
    this.#skip = skip;
  }

  get position(): CurrentPosition {
    return this.#position!;
  }

  /** Returns a position that was requested after all writes. */
  nextPosition(): Promise<CurrentPosition> {
    this.#skip(NEW_POSITION_MS);
    return this.#source.position();
  }

  /** Reads all entries, and waits until all writes are committed. */
  async start(): Promise<void> {
    this.#position = await this.nextPosition();
    await this.#source.readAll(() => {});
    await this.poll();
    await this.commit();
  }

  /** Waits until all writes are committed, and compares all stable IDs. */
  async commit(): Promise<void> {
    this.#skip(COMMIT_MS);
    await this.poll();
    await this.#source.ids();
    expect(await this.poll()).toMatchObject({ gone: [], complete: true });
  }

  /** Reads what was written since the last poll. */
  async poll(): Promise<Poll> {
    const to = await this.nextPosition();
    const { read, ids, onBatch } = recorder();
    const listed = await this.#source.changes(this.position, to, onBatch);
    this.#position = to;
    return { ...listed, read, ids };
  }

  /** Polls while writes become visible. */
  async pollAll(): Promise<readonly Poll[]> {
    const polls: Poll[] = [];
    for (let seconds = 0; seconds < 3; seconds++) {
      polls.push(await this.poll());
      this.#skip(1000);
    }
    return polls;
  }
}

function recorder() {
  const read = new Map<string, ReadEntry>();
  const ids: string[] = [];
  const onBatch: OnBatch = ({ kind, entries }) => {
    for (const entry of entries) {
      ids.push(`${kind} ${entry.id}`);
      read.set(`${kind} ${entry.id}`, entry);
    }
  };
  return { read, ids, onBatch };
}

const modified = (dn: string, change: string) =>
  `dn: ${dn}\nchangetype: modify\n${change}\n\n`;
const deleted = (dn: string) => `dn: ${dn}\nchangetype: delete\n\n`;
const moved = (dn: string, rdn: string, to: string) =>
  `dn: ${dn}\nchangetype: modrdn\nnewrdn: ${rdn}\ndeleteoldrdn: 0\nnewsuperior: ${to}\n\n`;

/** Adds a user with a stable ID and this RDN. */
function addNamed(uid: string, dn = userDn(uid)): string {
  return addUser(uid, {
    objectClass: [
      ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux', 'ipaObject'],
      'fasUser',
    ],
    ipaUniqueID: `id-${uid}`,
  }).replace(/^dn: .*/, `dn: ${dn}`);
}

/** Adds a group with a stable ID. */
function addTeam(cn: string, members: readonly string[]): string {
  return addEntry(groupDn(cn), {
    objectClass: ['ipaUserGroup', 'ipaObject', 'fasGroup'],
    cn,
    ipaUniqueID: `group-${cn}`,
    member: members,
  });
}

const userRef = (uid: string): EntryRef => ({
  kind: 'users',
  id: `id-${uid}`,
});
const groupRef = (cn: string): EntryRef => ({
  kind: 'groups',
  id: `group-${cn}`,
});

/** Conformance suite of {@link ReplicaSource}. */
export function describeReplicaSource(
  name: string,
  options: { readonly open: OpenSource },
): void {
  describe(name, () => {
    let realm: Realm;
    let other: Realm;
    const opened: ReplicaSourceSubject[] = [];
    let source: ReplicaSource;
    let follower: Follower;
    let skippedMs = 0;
    const skip = (ms: number) => {
      skippedMs += ms;
    };

    function open(ldap?: JsonObject): ReplicaSource {
      const subject = options.open(realm, ldap);
      opened.push(subject);
      return subject.source;
    }

    beforeAll(async () => {
      [realm, other] = await Promise.all([startRealm(), startRealm()]);
    });
    beforeEach(async () => {
      const now = performance.now.bind(performance);
      jest
        .spyOn(performance, 'now')
        .mockImplementation(() => now() + skippedMs);
      source = open();
      follower = new Follower(source, skip);
      await follower.start();
    });
    afterEach(() => {
      jest.restoreAllMocks();
      opened.splice(0).forEach(each => each.close());
    });
    afterAll(async () => {
      await Promise.all([realm?.stop(), other?.stop()]);
    });

    it('reads the same entries in every way', async () => {
      const all = recorder();
      const throttled = recorder();
      const listed = await source.ids();
      expect(await source.readAll(all.onBatch)).toEqual(listed);
      expect(await source.readAllThrottled(throttled.onBatch)).toEqual(listed);
      expect(throttled.read).toEqual(all.read);
      const refs = replicaKinds.flatMap(kind =>
        [...listed[kind]].map(id => ({ kind, id })),
      );
      expect(new Set(refs.map(({ kind, id }) => `${kind} ${id}`))).toEqual(
        new Set(all.ids),
      );
      const again = recorder();
      const found = await source.readEntries(
        listed.server,
        refs,
        again.onBatch,
      );
      expect({ server: listed.server, ...found }).toEqual(listed);
      expect(again.read).toEqual(all.read);
    });

    describe('changes', () => {
      const written: [string, string, string][] = [
        ['a new user', addNamed('new'), 'users id-new'],
        [
          'a changed user',
          modified(userDn('new'), 'replace: sn\nsn: Changed'),
          'users id-new',
        ],
        [
          'a locked user',
          modified(
            userDn('new'),
            'replace: nsAccountLock\nnsAccountLock: TRUE',
          ),
          'users id-new',
        ],
        ['a new group', addTeam('new', [userDn('new')]), 'groups group-new'],
        [
          'a group that contains it',
          addTeam('top', [groupDn('new')]),
          'groups group-top',
        ],
        [
          'a renamed group',
          renamed(groupDn('new'), 'cn=newer'),
          'groups group-new',
        ],
        ['a renamed user', renamed(userDn('new'), 'uid=newer'), 'users id-new'],
        [
          'a removed member',
          modified(groupDn('newer'), 'delete: member'),
          'groups group-new',
        ],
        [
          'a changed sponsor',
          modified(
            groupDn('newer'),
            `add: memberManager\nmemberManager: ${userDn('alice')}`,
          ),
          'groups group-new',
        ],
        [
          'a new agreement',
          addEntry(agreementDn('New'), {
            objectClass: ['fasAgreement', 'ipaAssociation'],
            cn: 'New',
            ipaUniqueID: 'id-agreement',
          }),
          'agreements id-agreement',
        ],
        [
          'a signed agreement',
          modified(
            agreementDn('New'),
            `add: memberUser\nmemberUser: ${userDn('alice')}`,
          ),
          'agreements id-agreement',
        ],
        ['a user who is no longer served', withdrawn('newer'), 'users id-new'],
      ];

      it('reads every kind of write once', async () => {
        for (const [what, ldif, id] of written) {
          await realm.modify(ldif);
          const polls = await follower.pollAll();
          const times = polls.map(
            ({ ids }) => ids.filter(each => each === id).length,
          );
          expect({ what, times }).toEqual({ what, times: [1, 0, 0] });
          expect(polls.flatMap(({ gone }) => gone)).toEqual([]);
        }
      });

      it('returns values of the last write, and the groups of users', async () => {
        await realm.modify(
          addNamed('nested') +
            addTeam('inner', [userDn('nested')]) +
            addTeam('outer', [groupDn('inner')]) +
            modified(userDn('nested'), 'replace: sn\nsn: Changed'),
        );
        const { read } = await follower.poll();
        const user = read.get('users id-nested') as ReadEntry<UserEntry>;
        expect(user).toMatchObject({
          key: normalizeDn(userDn('nested')),
          createdAt: expect.any(Date),
          entry: { user: { username: 'nested', surname: 'Changed' } },
        });
        expect(user.memberOf).toEqual(
          new Set(['inner', 'outer'].map(cn => normalizeDn(groupDn(cn)))),
        );
        expect(read.get('groups group-outer')).toMatchObject({
          entry: { members: [normalizeDn(groupDn('inner'))] },
        });
        await realm.modify(withdrawn('nested'));
        expect((await follower.poll()).read.get('users id-nested')).toEqual(
          expect.objectContaining({ entry: undefined }),
        );
      });

      it('keeps the stable ID of renamed users and groups', async () => {
        await realm.modify(
          addNamed('before') + addTeam('crew', [userDn('before')]),
        );
        await follower.poll();
        await realm.modify(
          renamed(userDn('before'), 'uid=after') +
            renamed(groupDn('crew'), 'cn=squad'),
        );
        const { read, gone } = await follower.poll();
        expect(gone).toEqual([]);
        expect(read.get('users id-before')).toMatchObject({
          key: normalizeDn(userDn('after')),
          entry: { user: { username: 'after' } },
        });
        expect(read.get('groups group-crew')).toMatchObject({
          key: normalizeDn(groupDn('squad')),
          entry: { group: { groupname: 'squad' } },
        });
        // Some servers rewrite links later, without a new position.
        await eventually(async () => {
          const { read: again, onBatch } = recorder();
          const { server } = follower.position;
          await source.readEntries(server, [groupRef('crew')], onBatch);
          expect(again.get('groups group-crew')).toMatchObject({
            entry: { members: [normalizeDn(userDn('after'))] },
          });
        });
      });

      it.each([
        ['deleted', (uid: string) => deleted(userDn(uid))],
        [
          'preserved',
          (uid: string) => moved(userDn(uid), `uid=${uid}`, DELETED_USERS),
        ],
        [
          'moved below another entry',
          (uid: string) => moved(userDn(uid), `uid=${uid}`, userDn('alice')),
        ],
      ])('does not hide that entries were %s', async (how, remove) => {
        const uid = how.slice(0, 5);
        const [old, recent, unread] = ['old', 'recent', 'unread'].map(
          each => `${uid}-${each}`,
        );
        await realm.modify(addNamed(old));
        await follower.poll();
        await follower.commit();
        await realm.modify(addNamed(recent));
        await follower.poll();
        // A deletion and a write within one poll.
        await realm.modify(
          addNamed(unread) +
            [old, recent, unread].map(remove).join('') +
            modified(userDn('bob'), `replace: title\ntitle: ${how}`),
        );
        const polls = await follower.pollAll();
        expect(polls[0].read.size).toBeGreaterThan(0);
        const { users } = await source.ids();
        for (const each of [old, recent, unread]) {
          expect(users).not.toContain(`id-${each}`);
        }
        const gone = polls.flatMap(poll => poll.gone);
        expect(gone.filter(({ id }) => users.has(id))).toEqual([]);
        expect(gone).toContainEqual(userRef(recent));
        // The deletion of the old user is not reported.
        expect(polls.at(-1)!.complete).toBe(false);
        await follower.commit();
      });

      it('reads a user who was moved back', async () => {
        await realm.modify(addNamed('restored'));
        await follower.poll();
        await realm.modify(
          moved(userDn('restored'), 'uid=restored', DELETED_USERS),
        );
        await follower.poll();
        await realm.modify(
          moved(
            `uid=restored,${DELETED_USERS}`,
            'uid=restored',
            `cn=users,cn=accounts,${realm.baseDn}`,
          ),
        );
        const { read } = await follower.poll();
        expect(read.get('users id-restored')).toMatchObject({
          entry: { user: { username: 'restored' } },
        });
      });

      it('is complete after writes to readable entries', async () => {
        for (const uid of ['alice', 'bob']) {
          await realm.modify(
            modified(userDn(uid), 'replace: title\ntitle: Engineer'),
          );
          const polls = await follower.pollAll();
          expect(polls.map(({ complete }) => complete)).not.toContain(false);
        }
      });

      it('is not complete after a write to an unreadable entry, until stable IDs are compared', async () => {
        await realm.modify(
          modified(realm.bindDn, 'replace: description\ndescription: x'),
        );
        const polls = await follower.pollAll();
        expect(polls.at(-1)!.complete).toBe(false);
        // A deletion may become visible after its position.
        await source.ids();
        expect((await follower.poll()).complete).toBe(false);
        await follower.commit();
      });
    });

    it('reads entries again that were written recently', async () => {
      const recentIds = async () => {
        const recent = recorder();
        await source.readRecent(follower.position.server, recent.onBatch);
        return recent.ids;
      };
      await realm.modify(
        modified(userDn('bob'), 'replace: title\ntitle: Recent'),
      );
      const { ids } = await follower.poll();
      expect(ids).toHaveLength(1);
      expect(await recentIds()).toEqual(expect.arrayContaining([...ids]));
      skip(REPLICATION_MS);
      await follower.poll();
      expect(await recentIds()).toEqual([]);
    });

    describe('positions', () => {
      it('are the same until something is written', async () => {
        const { position } = follower;
        expect(source.compare(position, await follower.nextPosition())).toBe(
          'same',
        );
        await realm.modify(
          modified(userDn('erin'), 'replace: title\ntitle: Written'),
        );
        const after = await follower.nextPosition();
        expect(source.compare(position, after)).toBe('later');
        // A late write may still become visible.
        expect(source.compare(after, await follower.nextPosition())).toBe(
          'later',
        );
        skip(COMMIT_MS);
        const committed = await follower.nextPosition();
        expect(source.compare(after, committed)).toBe('later');
        expect(source.compare(committed, await follower.nextPosition())).toBe(
          'same',
        );
      });

      it('go back when a server is replaced by an older copy', async () => {
        await realm.modify(
          modified(userDn('erin'), 'replace: title\ntitle: Newer'),
        );
        const proxy = await FaultProxy.start(realm.ldapsUrl);
        const servers = [`ldaps://localhost:${proxy.port}`];
        try {
          const restored = open({ servers });
          const before = await restored.position();
          proxy.redirect(other.ldapsUrl);
          proxy.reset();
          skip(NEW_POSITION_MS);
          const after = await restored.position();
          expect(after.server).toBe(before.server);
          expect(restored.compare(before, after)).toBe('earlier');
        } finally {
          await proxy.stop();
        }
      });
    });

    it('rejects when another server responds', async () => {
      const servers = [realm.ldapsUrl, other.ldapsUrl];
      const both = open({ servers });
      const before = await both.position();
      expect(before.server).toBe(realm.ldapsUrl);
      await realm.directory.stop();
      try {
        skip(NEW_POSITION_MS);
        const after = await both.position();
        expect(after.server).toBe(other.ldapsUrl);
        expect(both.compare(before, after)).toBe('other');
        expect(both.compare(after, before)).toBe('other');
        const { onBatch } = recorder();
        await expect(
          both.changes(before, { ...before, value: '999999 0' }, onBatch),
        ).rejects.toThrow('another server');
        await expect(
          both.readEntries(
            before.server,
            [{ kind: 'users', id: 'x' }],
            onBatch,
          ),
        ).rejects.toThrow('another server');
        for (const listed of [both.ids(), both.readAll(() => {})]) {
          expect(await listed).toMatchObject({ server: other.ldapsUrl });
        }
        await other.directory.stop();
        for (const failing of [
          both.ids(),
          both.readAll(() => {}),
          both.readAllThrottled(() => {}),
          both.changes(after, after, onBatch),
          both.readEntries(after.server, [{ kind: 'users', id: 'x' }], onBatch),
          both.verifyAccess(),
        ]) {
          await expect(failing).rejects.toThrow();
        }
      } finally {
        await Promise.all([realm.directory.start(), other.directory.start()]);
      }
    });

    describe('without a right', () => {
      /** Runs a function while the account may not read an attribute. */
      async function whileHidden(
        attribute: string,
        run: () => Promise<void>,
      ): Promise<void> {
        const aci = `(targetattr = "${attribute}")(version 3.0; acl "hidden"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)`;
        const change = (operation: string) =>
          realm.modify(
            modified(
              `cn=accounts,${realm.baseDn}`,
              `${operation}: aci\naci: ${aci}`,
            ),
          );
        await change('add');
        try {
          await run();
        } finally {
          await change('delete');
        }
      }

      it('has no positions, but reads', async () => {
        await whileHidden('entryusn', async () => {
          skip(RIGHT_MS);
          await expect(follower.poll()).rejects.toThrow('may not search');
          const position = await follower.nextPosition();
          expect(position.value).toBeUndefined();
          expect(source.compare(follower.position, position)).toBe('other');
          expect(source.compare(position, position)).toBe('later');
          expect((await source.readAll(() => {})).users.size).toBeGreaterThan(
            0,
          );
        });
        skip(RIGHT_MS);
        expect((await follower.nextPosition()).value).toBeDefined();
      });

      it('rejects entries that hide a required attribute', async () => {
        await realm.modify(addNamed('private') + addNamed('bystander'));
        await follower.poll();
        await whileHidden('fasIsPrivate', async () => {
          const { read, onBatch } = recorder();
          await realm.modify(
            modified(userDn('private'), 'replace: title\ntitle: x'),
          );
          const { server } = follower.position;
          for (const attempt of [
            () => follower.poll(),
            () => source.readEntries(server, [userRef('bystander')], onBatch),
            () => source.readAllThrottled(onBatch),
            () => source.readAll(() => {}),
            () => source.verifyAccess(),
          ]) {
            await expect(attempt()).rejects.toMatchObject({
              reason: 'accessCheck',
            });
          }
          expect(read.size).toBe(0);
        });
        await source.verifyAccess();
      });
    });

    it('rejects truncated results', async () => {
      const limitTo = (limit: string) =>
        realm.modify(
          modified(
            realm.bindDn,
            ['nsSizeLimit', 'nsPagedSizeLimit']
              .map(each => `replace: ${each}\n${each}: ${limit}\n-`)
              .join('\n'),
          ),
        );
      const users = Array.from({ length: 31 }, (_, n) => addNamed(`many${n}`));
      await realm.modify(users.join(''));
      // Less than a page, and less than the number of changes.
      await limitTo('30');
      try {
        const limited = open();
        const before = follower.position;
        const position = await follower.nextPosition();
        for (const attempt of [
          () => limited.ids(),
          () => limited.readAll(() => {}),
          () => limited.readAllThrottled(() => {}),
          () => limited.changes(before, position, () => {}),
        ]) {
          await expect(attempt()).rejects.toThrow('result code 4');
        }
      } finally {
        await limitTo('-1');
      }
    });

    it('serves a directory whose DNs do not contain user names', async () => {
      const dn = `cn=Ada Lovelace,cn=users,cn=accounts,${realm.baseDn}`;
      const replica = new Replica({
        source: open(),
        logger: new RecordingLogger(),
        maxStalenessMs: 600_000,
        guard: createGuard(),
      });
      const { tables, state } = replica;
      const directory = new ReplicaDirectory({
        gate: state,
        tables,
        keyOf: normalizeDn,
      });
      /** What the directory has under a name. */
      const under = async (username: string) => {
        const [user, isMember] = await Promise.all([
          directory.getUser(
            { username, fields: new Set(['username']) },
            context,
          ),
          directory.isMember({ username, groupname: 'engineers' }, context),
        ]);
        return user && { ...user, isMember };
      };
      replica.follow();
      try {
        await eventually(() => assert(replica.isServing));
        await realm.modify(addNamed('ada', dn) + addTeam('engineers', [dn]));
        await eventually(async () =>
          expect(await under('ada')).toMatchObject({
            username: 'ada',
            isMember: true,
          }),
        );
        // Renames the user, but not the entry.
        await realm.modify(modified(dn, 'replace: uid\nuid: countess'));
        await eventually(async () =>
          expect(await under('countess')).toMatchObject({
            username: 'countess',
            isMember: true,
          }),
        );
        expect(await under('ada')).toBeUndefined();
        // Renames the entry, but not the user.
        await realm.modify(renamed(dn, 'cn=Ada King'));
        const key = normalizeDn(dn.replace('Lovelace', 'King'));
        await eventually(() => expect(tables.users.keyOf('id-ada')).toBe(key));
        expect(await under('countess')).toMatchObject({ isMember: true });
        await realm.modify(deleted(dn.replace('Lovelace', 'King')));
        await eventually(async () =>
          expect(await under('countess')).toBeUndefined(),
        );
      } finally {
        replica.stop();
      }
    });
  });
}
