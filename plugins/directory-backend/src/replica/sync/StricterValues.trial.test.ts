import type { Replication } from '@directory-gateway/realm';
import { addFasUser } from '../../__testUtils__/conformance/changeArbitrary';
import { context } from '../../__testUtils__/conformance/queries';
import { eventually } from '../../__testUtils__/eventually';
import {
  openLdapPrincipals,
  type OpenLdapPrincipals,
} from '../../__testUtils__/ldap/openLdap';
import {
  openReplica,
  type OpenReplica,
} from '../../__testUtils__/ldap/openReplica';
import { TwoServers } from '../../__testUtils__/ldap/TwoServers';
import { Accounts } from '../../directory/Accounts';
import { userFieldNames } from '../../directory/schema';

jest.setTimeout(600_000);

const wholeUser = { fields: new Set(userFieldNames) };

const EXPIRED = new Date('2020-01-01T00:00:00Z');

describe('HeldValues with a second server that lags behind', () => {
  let pair: TwoServers;
  let replication: Replication;
  let opened: OpenReplica | undefined;
  let ldap: OpenLdapPrincipals | undefined;

  beforeAll(async () => {
    pair = await TwoServers.start();
    replication = await pair.replicate();
  });
  afterEach(async () => {
    opened?.close();
    opened = undefined;
    ldap?.close();
    ldap = undefined;
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

  it('keeps private flags, locks and deletions until the server has caught up', async () => {
    opened = await openReplica({
      realm: pair.preferred,
      ldap: pair.ldap,
    });
    const { directory, replica, logger } = opened;
    ldap = openLdapPrincipals({ realm: pair.preferred, ldap: pair.ldap });
    const { principals } = ldap;
    const accounts = new Accounts({
      principals,
      servers: ldap.pool.servers,
      replica: opened.accounts,
    });
    const lookUp = (username: string) =>
      accounts.findLive({ username }, context);
    const find = (username: string) =>
      directory.getUser({ ...wholeUser, username }, context);
    await pair.preferred.modify(addFasUser('frank'));
    await replication.caughtUp();
    // Fails unless the second server has the user.
    await pair.other.modify(setTo('frank', 'title', 'Engineer'));
    await replication.caughtUp();
    await eventually(async () => expect(await find('frank')).toBeDefined());
    await replication.pause();
    await pair.preferred.modify(
      [
        setTo('alice', 'fasIsPrivate', 'TRUE'),
        setTo('frank', 'nsAccountLock', 'TRUE'),
        setTo('erin', 'krbPrincipalExpiration', '20200101000000Z'),
        `dn: ${userDn('dave')}\nchangetype: delete\n`,
      ].join('\n'),
    );
    await eventually(async () => {
      expect(await find('alice')).toMatchObject({ is_private: true });
      expect(await find('frank')).toMatchObject({ locked: true });
      expect(await find('dave')).toBeUndefined();
      expect(await lookUp('erin')).toMatchObject({ expires: EXPIRED });
    });
    // The replication state is read after the changes.
    await eventually(() => expect(replica.state.ageMs).toBeLessThan(500));

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
    expect(replica.held.size).toBe(4);
    // Control: the lagging server itself would undo them.
    const onServer = (username: string) =>
      principals.find({ username }, context);
    expect(await onServer('frank')).toMatchObject({ locked: false });
    expect(await lookUp('frank')).toMatchObject({ locked: true });
    expect(await onServer('erin')).toMatchObject({ expires: undefined });
    expect(await lookUp('erin')).toMatchObject({ expires: EXPIRED });
    expect(await onServer('dave')).toMatchObject({ username: 'dave' });
    expect(await lookUp('dave')).toBeUndefined();

    // After replication resumes, the lagging server receives all changes.
    await pair.preferred.directory.start();
    await replication.resume();
    await eventually(() => expect(replica.held.size).toBe(0));
    expect(logger.lines.join('\n')).toContain('are released');
    await eventually(async () => {
      expect(await find('alice')).toMatchObject({ is_private: true });
      expect(await find('frank')).toMatchObject({ locked: true });
      expect(await find('dave')).toBeUndefined();
      expect(await lookUp('frank')).toMatchObject({ locked: true });
      expect(await lookUp('erin')).toMatchObject({ expires: EXPIRED });
      expect(await lookUp('dave')).toBeUndefined();
    });
  });
});
