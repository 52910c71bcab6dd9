/* eslint-disable jest/no-export -- a suite for the tests of every adapter */
import type { Realm } from '@directory-gateway/realm';
import type {
  Principal,
  PrincipalLookup,
  PrincipalQuery,
} from '../../directory/Principal';
import type { SchemaPreset } from '../../directory/schema';
import { addUser, conformanceEntries } from './entries';
import { dumpEntries } from '../naive/DumpedEntry';
import { NaiveDirectory } from '../naive/NaiveDirectory';
import { resultsOf, context, spelled, type QueryResults } from './queries';

/** Entries with properties that the realm's other entries do not have. */
const ENTRIES = [
  addUser('renamed', {
    krbCanonicalName: 'old.name@EXAMPLE.TEST',
    krbPrincipalName: ['renamed@EXAMPLE.TEST', 'old.name@EXAMPLE.TEST'],
  }),
  addUser('nocanonical', { krbCanonicalName: [] }),
].join('');

/**
 * Conformance suite of {@link PrincipalLookup}: compares its results with those
 * of a model that reads the entries one by one.
 */
export function describePrincipalLookup(
  name: string,
  options: {
    readonly schema: SchemaPreset;
    readonly startRealm: (options: { schema: SchemaPreset }) => Promise<Realm>;
    /** Opens the adapter on a realm that has all entries. */
    readonly open: (realm: Realm) => {
      readonly principals: PrincipalLookup;
      close(): void;
    };
  },
): void {
  describe(`${name}, schema ${options.schema}`, () => {
    let realm: Realm | undefined;
    let subject: ReturnType<typeof options.open> | undefined;
    let model: NaiveDirectory;

    beforeAll(async () => {
      realm = await options.startRealm({ schema: options.schema });
      await realm.modify(conformanceEntries(options.schema) + ENTRIES);
      model = new NaiveDirectory(await dumpEntries(realm), options.schema);
      subject = options.open(realm);
    });
    afterAll(async () => {
      subject?.close();
      await realm?.stop();
    });

    /** Looks up each query and expects the same result as from the model. */
    async function findAll(
      queries: readonly PrincipalQuery[],
    ): Promise<QueryResults<PrincipalQuery, Principal | undefined>> {
      const found = await resultsOf(queries, async query => {
        const principal = await subject!.principals.find(query, context);
        return principal && { ...principal, server: undefined };
      });
      const expected = await resultsOf(queries, query =>
        model.principals.find(query),
      );
      expect(found).toEqual(expected);
      return found;
    }

    async function find(query: PrincipalQuery): Promise<Principal | undefined> {
      const [{ result }] = await findAll([query]);
      return result;
    }

    it('finds users, services and hosts by each of their principal names', async () => {
      const queries = model.principalNames().map(principal => ({ principal }));
      const found = await findAll(queries);
      const kinds = found.map(({ result }) => result?.kind);
      expect(new Set(kinds)).toEqual(
        new Set(['user', 'service', 'host', undefined]),
      );
    });

    it('finds a user by an alias and returns the canonical name', async () => {
      expect(
        await find({ principal: 'alice.liddell@EXAMPLE.TEST' }),
      ).toMatchObject({
        username: 'alice',
        canonicalName: 'alice@EXAMPLE.TEST',
      });
      expect(await find({ principal: 'renamed@EXAMPLE.TEST' })).toMatchObject({
        username: 'renamed',
        canonicalName: 'old.name@EXAMPLE.TEST',
      });
    });

    it('finds locked and expired accounts', async () => {
      expect(await find({ principal: 'carol@EXAMPLE.TEST' })).toMatchObject({
        username: 'carol',
        locked: true,
      });
      expect(await find({ principal: 'eve@EXAMPLE.TEST' })).toMatchObject({
        username: 'eve',
        expires: new Date('2020-01-01T00:00:00Z'),
      });
    });

    it('distinguishes principal names by case', async () => {
      expect(await find({ principal: 'alice@EXAMPLE.TEST' })).toBeDefined();
      expect(await find({ principal: 'Alice@EXAMPLE.TEST' })).toBeUndefined();
      expect(await find({ principal: 'alice@example.test' })).toBeUndefined();
      await findAll(
        model
          .principalNames()
          .map(principal => ({ principal: principal.toUpperCase() })),
      );
    });

    it('finds no entry by a name that two entries share', async () => {
      const principal = 'two@OTHER.TEST';
      expect(
        model.principalNames().filter(each => each === principal),
      ).toHaveLength(2);
      expect(await find({ principal })).toBeUndefined();
      expect(await find({ principal: 'twin@EXAMPLE.TEST' })).toMatchObject({
        username: 'twin',
        principalNames: ['twin@EXAMPLE.TEST', principal],
      });
    });

    it.each([
      ...['', '*', 'alice', 'alice@*', 'alice@OTHER.TEST', 'two'],
      ...['alice@EXAMPLE.TEST\0', ' alice@EXAMPLE.TEST', ')(uid=alice'],
      ...['älice@EXAMPLE.TEST', 'al\\69ce@EXAMPLE.TEST'],
    ])('finds no entry by the principal name %j', async principal => {
      expect(await find({ principal })).toBeUndefined();
    });

    it('finds users by user name in any case', async () => {
      const names = model.users.map(user => user.text('uid')!);
      const queries = spelled(names).map(username => ({ username }));
      await findAll(queries);
      expect(await find({ username: 'ALICE' })).toMatchObject({
        username: 'alice',
        served: true,
      });
    });

    it('returns users that the API does not serve and marks them', async () => {
      const isServed = options.schema === 'freeipa';
      expect(await find({ username: 'outsider' })).toMatchObject({
        kind: 'user',
        username: 'outsider',
        served: isServed,
      });
      await findAll([{ username: 'admin' }]);
    });
  });
}
