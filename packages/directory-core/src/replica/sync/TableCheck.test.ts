import type { GroupEntry, ReplicaBatch } from '../tables/entries';
import { ReplicaTables } from '../tables/ReplicaTables';
import type { TableCheck } from './TableCheck';
import { TableWriter } from './TableWriter';

function batchOf(groupname: string, members: readonly string[]): ReplicaBatch {
  const group = { groupname } as GroupEntry['group'];
  const entry = { group, members, sponsors: [], uniqueId: groupname };
  return {
    kind: 'groups',
    entries: [{ id: groupname, key: `cn=${groupname}`, entry }],
  };
}

describe('TableCheck', () => {
  let check: TableCheck;

  beforeEach(() => {
    const writer = new TableWriter({ tables: new ReplicaTables() });
    writer.write(batchOf('staff', ['uid=alice']));
    check = writer.startCheck();
  });

  const idsOf = (...groups: readonly string[]) => ({
    users: new Set<string>(),
    groups: new Set(groups),
    agreements: new Set<string>(),
  });
  const found = () =>
    [...check.differences()].flatMap(({ entries }) =>
      entries.map(({ id, entry }) => [id, entry !== undefined]),
    );

  it('forgets a difference that a later read does not show', () => {
    check.compare(batchOf('staff', []));
    expect(found()).toEqual([['staff', true]]);
    check.compare(batchOf('staff', ['uid=alice']));
    expect(found()).toEqual([]);
  });

  it('forgets an entry that the last read did not return', async () => {
    check.compare(batchOf('crew', []));
    expect(await check.findDeleted(idsOf('staff'))).toEqual([]);
    expect(found()).toEqual([]);
  });

  it('finds an entry that was read and is then not returned', async () => {
    check.compare(batchOf('staff', []));
    expect(await check.findDeleted(idsOf())).toEqual([
      { kind: 'groups', id: 'staff' },
    ]);
    expect(found()).toEqual([['staff', false]]);
  });
});
