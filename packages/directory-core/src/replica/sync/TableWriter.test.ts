import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GroupEntry, ReplicaBatch } from '../tables/entries';
import { ReplicaTables } from '../tables/ReplicaTables';
import { TableWriter } from './TableWriter';

const STAFF = 'cn=staff';

function group(members: number): GroupEntry {
  return {
    members: Array.from({ length: members }, (_, index) => `uid=${index}`),
    sponsors: ['uid=0'],
  };
}

function batchOf(...entries: readonly GroupEntry[]): ReplicaBatch {
  return {
    kind: 'groups',
    entries: entries.map(entry => ({ id: STAFF, key: STAFF, entry })),
  };
}

describe('TableWriter.writeInSlices', () => {
  let tables: ReplicaTables;
  let writer: TableWriter;

  beforeEach(() => {
    tables = new ReplicaTables();
    writer = new TableWriter({ tables });
  });

  const membersOf = () => tables.groups.graph.get(STAFF)?.members.length;

  it.each([0, 1, 2500, 2501, 12_345])(
    'writes a group of %i members like an undivided write',
    async size => {
      await writer.writeInSlices(batchOf(group(size)), 0);
      const whole = new ReplicaTables();
      new TableWriter({ tables: whole }).write(batchOf(group(size)));
      expect(tables.groups.graph.get(STAFF)).toEqual(
        whole.groups.graph.get(STAFF),
      );
      for (const member of ['uid=0', `uid=${size - 1}`, `uid=${size}`]) {
        expect([...tables.groups.graph.groupsOf(member)]).toEqual([
          ...whole.groups.graph.groupsOf(member),
        ]);
      }
    },
  );

  it('replaces a group that was read before', async () => {
    await writer.writeInSlices(batchOf(group(6000), group(5999)), 0);
    expect(membersOf()).toBe(5999);
    expect([...tables.groups.graph.groupsOf('uid=5998')]).toEqual([STAFF]);
    expect([...tables.groups.graph.groupsOf('uid=5999')]).toEqual([]);
  });

  it('yields to the event loop between slices', async () => {
    const sizes = new Set<number | undefined>();
    let isDone = false;
    const written = writer
      .writeInSlices(batchOf(group(6000)), 0)
      .finally(() => (isDone = true));
    while (!isDone) {
      sizes.add(membersOf());
      await nextTurn();
    }
    await written;
    expect([...sizes, membersOf()]).toEqual([2500, 5000, 6000]);
  });

  it('stops when a later sync has started', async () => {
    const earlier = writer.writeInSlices(batchOf(group(6000)), 0);
    await Promise.all([writer.writeInSlices(batchOf(group(10)), 1), earlier]);
    expect(membersOf()).toBe(10);
  });
});
