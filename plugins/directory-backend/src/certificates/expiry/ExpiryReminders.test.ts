import { mockServices } from '@backstage/backend-test-utils';
import fc from 'fast-check';
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
import { RECORDS } from '../records/CertificateRecords';
import { ExpiryReminders, findDueStep, REMINDERS } from './ExpiryReminders';

jest.setTimeout(120_000);

const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60 * 1000;
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

  it('returns the reminder closest to expiry', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 60, noNaN: true }), left => {
        const passed = daysBefore.filter(days => left <= days);
        expect(dueOf(left)).toBe(passed.length > 0 ? passed[0] : undefined);
      }),
    );
  });
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
    const listOf = jest.spyOn(opened.records, 'listOf');
    const send = jest.fn(async () => {});
    const { port } = server.address() as AddressInfo;
    const options = {
      accounts: accountsOf(usernames.map(username => person(username))),
      ...opened,
      config: { daysBefore: [1], everyMs: DAY_MS },
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
      now: () => now,
    };
    /** Runs the reminders of processes at the same time. */
    const run = async (processes = 3) => {
      await Promise.all(
        Array.from({ length: processes }, () =>
          new ExpiryReminders(options).run(signal),
        ),
      );
    };
    return { knex, listOf, run, send };
  }

  it('sends each reminder once, and queries the certificates of each user once', async () => {
    const { knex, listOf, run, send } = await createReminders(['alice', 'bob']);
    await run(1);
    expect(send).toHaveBeenCalledTimes(4);
    expect(listOf).toHaveBeenCalledTimes(2);
    await run();
    expect(send).toHaveBeenCalledTimes(4);
    expect(listOf).toHaveBeenCalledTimes(2);
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

  it('sends the reminders of a crashed process after 15 minutes', async () => {
    const { knex, run, send } = await createReminders(['alice']);
    await run();
    await knex(REMINDERS).update({ sent_at: null });
    now += 14 * MINUTE_MS;
    await run();
    expect(send).toHaveBeenCalledTimes(2);
    now += MINUTE_MS;
    await run();
    expect(send).toHaveBeenCalledTimes(4);
  });

  it('does not remind a user of the certificates of an earlier user', async () => {
    const { knex, run, send } = await createReminders(['alice', 'bob']);
    await knex(RECORDS)
      .where({ username: 'alice' })
      .update({ subject_id: 'ipaUniqueID=earlier' });
    await run(1);
    expect(send).toHaveBeenCalledTimes(2);
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
