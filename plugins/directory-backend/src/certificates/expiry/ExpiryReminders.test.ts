import { mockServices } from '@backstage/backend-test-utils';
import type { NotificationSendOptions } from '@backstage/plugin-notifications-node';
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
import { RECORDS } from '../records/certificateRows';
import { ExpiryReminders, findDueStep, REMINDERS } from './ExpiryReminders';

jest.setTimeout(120_000);

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-12-01T12:00:00Z');
const daysBefore = [1, 7, 14, 30];
const { signal } = new AbortController();

/** Returns the reminder that is due this many days before expiry. */
function dueOf(left: number, validity = 365): number | undefined {
  const notBefore = new Date(NOW - validity * DAY_MS);
  const now = NOW - left * DAY_MS;
  const certificate = { notBefore, notAfter: new Date(NOW) };
  return findDueStep(certificate, { now, daysBefore });
}

describe('findDueStep', () => {
  it.each([
    [31, undefined],
    [30.01, undefined],
    [30, 30],
    [14.01, 30],
    [14, 14],
    [7.01, 14],
    [7, 7],
    [1.01, 7],
    [1, 1],
    [0.01, 1],
    [0, undefined],
    [-1, undefined],
  ])('%p days before expiry, returns %p', (left, due) => {
    expect(dueOf(left)).toBe(due);
  });

  it.each([
    [30, 30, undefined],
    [30, 29.9, undefined],
    [30, 14, 14],
    [31, 30, 30],
    [8, 7, 7],
    [7.9, 7, undefined],
    [2, 1, 1],
    [1, 0.5, undefined],
  ])(
    'with a validity of %p days, %p days before expiry, returns %p',
    (validity, left, due) => {
      expect(dueOf(left, validity)).toBe(due);
    },
  );
});

describe('ExpiryReminders', () => {
  const database = withDatabase();
  let server: Server;
  let onRequest: () => number | undefined;
  let now: number;

  beforeEach(async () => {
    onRequest = () => 200;
    now = NOW;
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

  /**
   * Creates reminders for users with two expiring certificates each, which were
   * issued under another user name.
   */
  async function createReminders(usernames: readonly string[]) {
    const knex = await openDatabase(database);
    const ca = new PermissiveAuthority();
    const opened = openAuthorities(knex, { ca });
    const people = usernames.map(username => ({
      ...person(username),
      stableId: `ipaUniqueID=${username}`,
    }));
    for (const { stableId } of [...people, ...people]) {
      await opened.issue({ owner: { username: 'former', stableId } });
    }
    await knex(RECORDS).update({
      not_before: new Date(now - 29 * DAY_MS),
      not_after: new Date(now + DAY_MS / 2),
    });
    const send = jest.fn(async (_options: NotificationSendOptions) => {});
    const { port } = server.address() as AddressInfo;
    const reminders = new ExpiryReminders({
      accounts: accountsOf(people),
      ...opened,
      config: { daysBefore: [1] },
      database: knex,
      discovery: mockServices.discovery.mock({
        getBaseUrl: async () => `http://localhost:${port}`,
      }),
      logger: mockServices.logger.mock(),
      notifications: { send },
      portalUserNames: {
        isConfigured: true,
        entityRefsOf: async (username: string) => [`user:default/${username}`],
      },
      replicated: {
        usernameOf: id =>
          people.find(({ stableId }) => stableId === id)?.username,
      },
      now: () => now,
    });
    return { ca, knex, people, run: () => reminders.run(signal), send };
  }

  it('sends each reminder once, to the present name of the owner', async () => {
    const { knex, run, send } = await createReminders(['alice', 'bob']);
    await run();
    const recipients = send.mock.calls.map(([{ recipients: to }]) => to);
    expect(recipients).toHaveLength(4);
    for (const name of ['alice', 'bob']) {
      const entityRef = [`user:default/${name}`];
      expect(recipients).toContainEqual({ type: 'entity', entityRef });
    }
    await run();
    expect(send).toHaveBeenCalledTimes(4);
    now += DAY_MS;
    await run();
    expect(await knex(REMINDERS)).toEqual([]);
  });

  it('sends again what could not be sent', async () => {
    const { run, send } = await createReminders(['alice']);
    send.mockRejectedValue(new Error('Down'));
    await run();
    send.mockReset();
    await run();
    expect(send).toHaveBeenCalledTimes(2);
  });

  it('reminds a locked user when the account is unlocked', async () => {
    const { people, run, send } = await createReminders(['alice']);
    const [alice] = people;
    people[0] = { ...alice, locked: true };
    await run();
    expect(send).not.toHaveBeenCalled();
    people[0] = alice;
    await run();
    expect(send).toHaveBeenCalledTimes(2);
  });

  it('does not remind a user of the certificates of an earlier user', async () => {
    const { knex, run, send } = await createReminders(['alice', 'bob']);
    await knex(RECORDS)
      .where({ subject_id: 'ipaUniqueID=alice' })
      .update({ username: 'alice', subject_id: 'ipaUniqueID=earlier' });
    await run();
    expect(send).toHaveBeenCalledTimes(2);
  });

  it('reminds the user with the name when the ID of the account is not known', async () => {
    const { knex, run, send } = await createReminders(['alice']);
    await knex(RECORDS).update({ username: 'alice', subject_id: null });
    await run();
    expect(send).toHaveBeenCalledTimes(2);
  });

  it('does not remind of a certificate that has been renewed', async () => {
    const { knex, run, send } = await createReminders(['alice']);
    const [renewal, renewed] = await knex(RECORDS).pluck('id');
    const update = (id: string, change: object) =>
      knex(RECORDS).where({ id }).update(change);
    await update(renewal, { not_after: new Date(now + 90 * DAY_MS) });
    await run();
    expect(send).not.toHaveBeenCalled();
    // With another profile, it is for another purpose.
    await update(renewed, { profile: 'vpn' });
    await run();
    expect(send).toHaveBeenCalledTimes(1);
  });

  it('reminds of a certificate whose renewal was revoked without the gateway', async () => {
    const { ca, knex, run, send } = await createReminders(['alice']);
    const [renewal] = await knex(RECORDS);
    await knex(RECORDS)
      .where({ id: renewal.id })
      .update({ not_after: new Date(now + 90 * DAY_MS) });
    await ca.revoke({
      serialNumber: BigInt(renewal.serial_number),
      reason: 'superseded',
      revokedBy: 'admin',
    });
    await run();
    expect(send).toHaveBeenCalledTimes(1);
  });

  it('fails when the notifications plugin does not respond', async () => {
    const { run, send } = await createReminders(['alice']);
    const timeout = new AbortController();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
    onRequest = () => {
      timeout.abort(new Error('Too late'));
      return undefined;
    };
    await expect(run()).rejects.toThrow('Too late');
    expect(send).not.toHaveBeenCalled();
  });
});
