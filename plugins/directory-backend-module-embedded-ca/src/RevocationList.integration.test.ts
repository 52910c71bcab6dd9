import { PostgresServer } from '@directory-gateway/realm';
import { TestCa } from './__testUtils__/TestCa';
import { AUTHORITIES } from './RecordedIssuers';

jest.setTimeout(120_000);

describe('RevocationList on PostgreSQL', () => {
  let server: PostgresServer;
  let ca: TestCa;

  beforeAll(async () => {
    server = await PostgresServer.start();
    ca = await TestCa.start(server.connect(await server.createDatabase()));
  });

  afterAll(async () => {
    await ca?.stop();
    await server?.stop();
  });

  it('keeps all changes of concurrent processes, and restores a database', async () => {
    const nodes = await Promise.all([1, 2, 3].map(() => ca.open()));
    const revokeOn = async (node: (typeof nodes)[number]) => {
      const { serialNumber } = await ca.issue(node);
      await node.authority.revoke({
        serialNumber,
        reason: 'keyCompromise',
        revokedBy: 'user:default/admin',
      });
      return String(serialNumber);
    };
    await nodes[0].maintain();
    const rows = await ca.knex(AUTHORITIES);
    const restoreRecords = ca.records.backUp();

    const revoked = await Promise.all([...nodes, ...nodes].map(revokeOn));
    const listed = await ca.readCrl(nodes[1]);
    expect(new Set(listed.entries.map(each => each.serialNumber))).toEqual(
      new Set(revoked),
    );

    restoreRecords();
    await ca.knex(AUTHORITIES).delete();
    await ca.knex(AUTHORITIES).insert(rows);
    const next = await ca.open();
    await next.maintain();
    const restored = await ca.readCrl(next);
    expect(restored.entries).toEqual(listed.entries);
    expect(restored.number).toBeGreaterThan(listed.number);
    expect(ca.logger.lines).toEqual([
      expect.stringContaining('The database did not have 6 revocations'),
    ]);
  });
});
