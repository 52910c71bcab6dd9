import type { Replication } from '@directory-gateway/realm';
import { addFasUser } from '../__testUtils__/changeArbitrary';
import { eventually } from '../__testUtils__/eventually';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';
import { TwoServers } from '../__testUtils__/TwoServers';
import { context } from '../directory/conformanceQuestions';
import { userFieldNames } from '../directory/schema';

jest.setTimeout(180_000);

const wholeUser = {
  fields: new Set(userFieldNames),
  visibleTo: { kind: 'everything' },
} as const;

describe('a second server that lags behind', () => {
  let pair: TwoServers;
  let replication: Replication;
  let opened: OpenReplica | undefined;

  beforeAll(async () => {
    pair = await TwoServers.start();
    replication = await pair.replicate();
  });
  afterEach(async () => {
    opened?.close();
    opened = undefined;
    await pair.preferred.directory.start();
  });
  afterAll(() => pair?.stop());

  const userDn = (username: string) =>
    `uid=${username},cn=users,cn=accounts,${pair.preferred.baseDn}`;
  const setTo = (username: string, attribute: string, value: string) =>
    `dn: ${userDn(username)}
changetype: modify
replace: ${attribute}
${attribute}: ${value}
`;

  it('undoes no private flag, lock or deletion until it has caught up', async () => {
    opened = await openReplica({
      realm: pair.preferred,
      ldap: pair.ldap,
    });
    const { directory, replica, logger } = opened;
    const find = (username: string) =>
      directory.getUser({ ...wholeUser, username }, context);
    await pair.preferred.modify(addFasUser('frank'));
    await replication.caughtUp();
    await eventually(async () => expect(await find('frank')).toBeDefined());
    await replication.pause();
    await pair.preferred.modify(
      [
        setTo('alice', 'fasIsPrivate', 'TRUE'),
        setTo('frank', 'nsAccountLock', 'TRUE'),
        `dn: ${userDn('dave')}\nchangetype: delete\n`,
      ].join('\n'),
    );
    await eventually(async () => {
      expect(await find('alice')).toMatchObject({ is_private: true });
      expect(await find('frank')).toMatchObject({ locked: true });
      expect(await find('dave')).toBeUndefined();
    });
    // The state of replication is read after the changes.
    await eventually(() => expect(replica.ageMs).toBeLessThan(500));

    await pair.preferred.directory.stop();
    await eventually(() =>
      expect(logger.lines.join('\n')).toContain('has caught up with'),
    );
    await pair.other.modify(setTo('alice', 'mail', 'late@example.test'));
    await eventually(async () =>
      expect(await find('alice')).toMatchObject({
        emails: ['late@example.test'],
        is_private: true,
      }),
    );
    expect(await find('frank')).toMatchObject({ locked: true });
    expect(await find('dave')).toBeUndefined();
    expect(replica.heldEntries).toBe(3);

    // With another change the lagging server has all of them.
    await pair.preferred.directory.start();
    await replication.resume();
    await eventually(() => expect(replica.heldEntries).toBe(0));
    expect(logger.lines.join('\n')).toContain('are released');
    await eventually(async () => {
      expect(await find('alice')).toMatchObject({ is_private: true });
      expect(await find('frank')).toMatchObject({ locked: true });
      expect(await find('dave')).toBeUndefined();
    });
  });
});
