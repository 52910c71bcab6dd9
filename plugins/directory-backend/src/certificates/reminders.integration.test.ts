import {
  accountsOf,
  person,
} from '@directory-gateway/directory-core/testUtils';
import { PostgresServer } from '@directory-gateway/realm';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@backstage/types';
import { issuerFiles } from '../__testUtils__/certificates/issuerFiles';
import { ReminderPortal } from '../__testUtils__/certificates/ReminderPortal';

jest.setTimeout(600_000);

const DAY_MS = 24 * 60 * 60 * 1000;

let postgres: PostgresServer;
let folder: string;
/** Days that the clock of the reminders is ahead. */
let days: number;

beforeAll(async () => {
  postgres = await PostgresServer.start();
  folder = await mkdtemp(join(tmpdir(), 'reminders-'));
});

beforeEach(() => {
  days = 0;
});

afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a process of the portal with a database. */
async function start(options: {
  /** Name of the CA, which belongs to one database. */
  readonly caName: string;
  readonly database: JsonObject;
  readonly hasNotifications?: boolean;
}): Promise<ReminderPortal> {
  const { caName, ...process } = options;
  return await ReminderPortal.start({
    ...process,
    accounts: accountsOf([person('alice'), person('bob')]),
    certificates: {
      authority: 'embedded',
      profiles: [{ name: 'month' }],
      embedded: {
        organization: 'EXAMPLE.TEST',
        ...issuerFiles({ folder, name: caName }),
        profiles: [{ name: 'month', validity: { days: 30 } }],
      },
    },
    now: () => Date.now() + days * DAY_MS,
  });
}

describe.each(['better-sqlite3', 'pg'] as const)(
  'Expiry reminders of two instances with one database (%s)',
  client => {
    let portals: readonly ReminderPortal[];

    const shared = () => ({
      caName: `${client}.pem`,
      database: {
        client,
        connection:
          client === 'pg'
            ? postgres.connection('postgres')
            : { directory: folder },
      },
    });

    beforeAll(async () => {
      portals = [await start(shared()), await start(shared())];
    });

    afterAll(async () => {
      await Promise.all((portals ?? []).map(portal => portal.stop()));
    });

    /** Runs the reminders of both instances, one at a time as the scheduler. */
    async function remindAfter(later: number): Promise<void> {
      days = later;
      for (const portal of portals) {
        await portal.remind();
      }
    }

    const titlesOf = async (username: string) =>
      (await portals[1].messagesOf(username)).map(({ title }) => title);

    it('are sent once per step across all processes', async () => {
      const serial = await portals[0].sign({
        username: 'alice',
        profile: 'month',
      });
      await remindAfter(0);
      expect(await titlesOf('alice')).toEqual([]);
      await remindAfter(16.5);
      await remindAfter(17);
      const messages = await portals[0].messagesOf('alice');
      expect(messages).toMatchObject([
        {
          title: 'Your certificate expires in 14 days',
          link: `/directory/certificates/${serial}`,
          severity: 'normal',
          topic: 'certificate-expiry',
          scope: `certificate-expiry:${serial}:14`,
        },
      ]);
      expect(messages[0].description).toMatch(
        /^The certificate of CN=alice,O=EXAMPLE.TEST with the serial number \d+ expires on \d{4}-\d\d-\d\d \d\d:\d\d UTC\./,
      );
      expect(messages[0].description).toContain(serial);
      await remindAfter(23.5);
      await remindAfter(29.5);
      expect((await titlesOf('alice')).toSorted()).toEqual([
        'Your certificate expires in 1 day',
        'Your certificate expires in 14 days',
        'Your certificate expires in 7 days',
      ]);
      await remindAfter(31);
      expect(await titlesOf('alice')).toHaveLength(3);
    });

    it('are only logged without the notifications plugin', async () => {
      const portal = await start({ ...shared(), hasNotifications: false });
      try {
        const username = 'bob';
        await portal.sign({ username, profile: 'month' });
        days = 29.5;
        await portal.remind();
        expect(portal.logger.lines).toContainEqual(
          expect.stringMatching(
            /^info \d+ certificates expire within 30 days\. Their users are not notified/,
          ),
        );
        // The process has not claimed reminders of the others.
        await remindAfter(29.5);
        expect(await titlesOf(username)).toHaveLength(1);
      } finally {
        await portal.stop();
      }
    });
  },
);
