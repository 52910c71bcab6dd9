import { mockServices } from '@backstage/backend-test-utils';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  accountsOf,
  person,
} from '@directory-gateway/directory-core/testUtils';
import { openAuthorities } from '../../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../../__testUtils__/certificates/PermissiveAuthority';
import { withDatabase } from '../../__testUtils__/withDatabase';
import { openDatabase } from '../../openDatabase';
import { ExpiryReminders } from './ExpiryReminders';
import { DAY_MS } from './reminder';
import { RECORDS } from '../records/CertificateRecords';
import { ReminderLedger } from './ReminderLedger';

const now = Date.parse('2026-12-01T12:00:00Z');

describe('ExpiryReminders', () => {
  const database = withDatabase();
  let server: Server;
  let onRequest: () => number | undefined;

  beforeEach(async () => {
    onRequest = () => 200;
    server = createServer((_req, res) => {
      const status = onRequest();
      if (status !== undefined) {
        res.writeHead(status).end();
      }
    }).listen(0, 'localhost');
    await once(server, 'listening');
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
    jest.restoreAllMocks();
  });

  /** Creates reminders for users with two expiring certificates each. */
  async function createReminders(usernames: readonly string[]) {
    const knex = await openDatabase(database);
    const opened = openAuthorities(knex, { ca: new PermissiveAuthority() });
    for (const username of [...usernames, ...usernames]) {
      await opened.issue({ owner: { username } });
    }
    await knex(RECORDS).update({
      not_before: new Date(now - 29 * DAY_MS),
      not_after: new Date(now + DAY_MS / 2),
    });
    const listExpiring = jest.spyOn(opened.records, 'listExpiring');
    const sent: unknown[] = [];
    const { port } = server.address() as AddressInfo;
    const reminders = new ExpiryReminders({
      accounts: accountsOf(usernames.map(username => person(username))),
      ...opened,
      config: { daysBefore: [1], everyMs: DAY_MS },
      discovery: mockServices.discovery.mock({
        getBaseUrl: async () => `http://localhost:${port}`,
      }),
      ledger: new ReminderLedger(knex),
      logger: mockServices.logger.mock(),
      notifications: {
        async send(options) {
          sent.push(options);
        },
      },
      portalUserNames: {
        isConfigured: true,
        entityRefsOf: async username => [`user:default/${username}`],
      },
      now: () => now,
    });
    return { knex, reminders, listExpiring, sent };
  }

  it('queries the certificates of each user once', async () => {
    const { reminders, listExpiring, sent } = await createReminders([
      'alice',
      'bob',
    ]);
    const { signal } = new AbortController();
    await reminders.run(signal);
    expect(sent).toHaveLength(4);
    const { calls } = listExpiring.mock;
    expect(calls.map(([{ owner }]) => owner?.username)).toEqual([
      undefined,
      'alice',
      'bob',
    ]);
    await reminders.run(signal);
    expect(sent).toHaveLength(4);
    expect(calls).toHaveLength(4);
  });

  it('does not remind a user of the certificates of an earlier user', async () => {
    const { knex, reminders, sent } = await createReminders(['alice', 'bob']);
    await knex(RECORDS)
      .where({ username: 'alice' })
      .update({ subject_id: 'ipaUniqueID=earlier' });
    await reminders.run(new AbortController().signal);
    expect(sent).toHaveLength(2);
  });

  it('fails when the notifications plugin does not respond', async () => {
    const { reminders, sent } = await createReminders(['alice']);
    const timeout = new AbortController();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
    onRequest = () => {
      timeout.abort(new Error('Too late'));
      return undefined;
    };
    await expect(reminders.run(new AbortController().signal)).rejects.toThrow(
      'Too late',
    );
    expect(sent).toEqual([]);
  });
});
