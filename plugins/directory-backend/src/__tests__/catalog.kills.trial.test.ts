import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  dumpEntries,
  eventually,
  NaiveDirectory,
} from '@directory-gateway/directory-core/testUtils';
import {
  describeGroup,
  startOrganization,
} from '../__testUtils__/catalog/startOrganization';

/** Longest time from a change until the portal is killed. */
const SETTLE_MS = 3000;

/** Number of rounds, with one or two kills each; `make trials` sets it. */
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
