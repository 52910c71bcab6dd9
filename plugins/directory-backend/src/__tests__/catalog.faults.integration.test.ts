import { stripVTControlCharacters } from 'node:util';
import { startOrganization } from '../__testUtils__/catalog/startOrganization';

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
});
