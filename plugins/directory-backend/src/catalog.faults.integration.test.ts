import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import {
  describeGroup,
  startOrganization,
} from './__testUtils__/catalog/startOrganization';
import { eventually } from './__testUtils__/eventually';
import { dumpEntries } from './__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from './__testUtils__/naive/NaiveDirectory';

/** Longest time from a change until the portal is killed. */
const SETTLE_MS = 3000;

/** Characters of the portal's log in an error. */
const LOG_LENGTH = 8000;

/** Repetitions of each fault; `make trials` sets a higher number. */
const FAULTS = Number(process.env.FAULTS || 1);

jest.setTimeout(600_000 + FAULTS * 300_000);

let organization: Awaited<ReturnType<typeof startOrganization>>;
beforeAll(async () => {
  organization = await startOrganization();
});
afterAll(() => organization?.stop());

const readDirectory = async () =>
  new NaiveDirectory(await dumpEntries(organization.realm), 'fas');

/** Waits until the groups of the catalog have their current descriptions. */
async function untilDescribed(): Promise<void> {
  const { groups } = await readDirectory();
  const descriptions = new Map(
    groups.map(group => [group.text('cn'), group.text('description')]),
  );
  await eventually(async () => {
    const outdated = (await organization.entities()).filter(
      ({ kind, metadata: { annotations, description } }) =>
        kind === 'Group' &&
        description !==
          descriptions.get(annotations['directory-gateway/groupname']),
    );
    expect(outdated).toEqual([]);
  });
}

describe('the entities of the catalog', () => {
  it.each([
    // This fault alone does not remove entities. It is first because, for a
    // minute after the directory denied access, only full syncs update the
    // replica, which can then be up to two minutes old.
    ['is unreachable', Math.ceil(FAULTS / 5)],
    ['denies access', FAULTS],
    ['is emptied', FAULTS],
  ] as const)(
    'are kept when the directory %s, %i times',
    async (name, rounds) => {
      const { cause, recover } = organization.faults[name];
      for (let round = 0; round < rounds; round++) {
        const { length } = stripVTControlCharacters(
          organization.gateway().log(),
        );
        try {
          await cause();
          await organization.untilFailing(length);
          await organization.expectKept();
          await recover();
          await organization.expectRecovered();
        } catch (error) {
          const log = organization.gateway().log().slice(-LOG_LENGTH);
          throw new Error(`Round ${round} failed. The portal logged:\n${log}`, {
            cause: error,
          });
        }
        expect(organization.gateway().alive()).toBe(true);
      }
    },
  );

  it(`are kept when the portal is killed during its sync and starts without its directory, ${FAULTS} times`, async () => {
    const faults = Object.values(organization.faults);
    for (let round = 0; round < FAULTS; round++) {
      const description = `round ${round}`;
      const { groups } = await readDirectory();
      await organization.realm.modify(
        groups.map(({ dn }) => describeGroup(dn, description)).join('\n'),
      );
      await sleep(randomInt(SETTLE_MS));
      await organization.gateway().kill();
      if (round % 2 === 1) {
        await organization.startAgain({ until: 'listening' });
        await sleep(randomInt(Math.ceil(organization.ingestionMs)));
        await organization.gateway().kill();
      }
      const { cause, recover } = faults[round % faults.length];
      await cause();
      await organization.startAgain();
      await organization.untilFailing();
      await organization.expectKept();
      await recover();
      await untilDescribed();
      await organization.expectRecovered();
      expect(organization.gateway().alive()).toBe(true);
    }
  });
});
