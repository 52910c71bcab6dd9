/* eslint-disable jest/no-export -- a part of the suite for the tests of every adapter */
import fc from 'fast-check';
import { type CallerContext, PrincipalSet } from '../../directory/Caller';
import type { Directory } from '../../directory/Directory';
import type { PageRequest } from '../../directory/Page';
import { allOf, not, type UserPredicate } from '../../directory/predicates';
import { PrivateDirectory } from '../../directory/PrivateDirectory';
import { publicKeyId } from '../../directory/publicKeys';
import { userFieldNames } from '../../directory/schema';
import type { User } from '../../directory/records';
import { memberSelection, searchTerms, textOrder } from './selectionArbitrary';
import type { NaiveDirectory } from '../naive/NaiveDirectory';
import type { Viewer } from '../naive/naiveSearch';
import { resultsOf, context, viewer } from './queries';

const fields = new Set(userFieldNames);
const whole: PageRequest = { number: 1, size: 10_000 };

const BY_NAME = {
  kind: 'byValue' as const,
  field: 'human_name' as const,
  valueOf: ({ human_name: name }: User) => name,
  descending: true,
};

/** Tests selections for a viewer, as restricted by {@link PrivateDirectory}. */
export function describePrivacy(
  subjects: () => {
    readonly directory: Directory;
    readonly model: NaiveDirectory;
  },
  samples: number,
): void {
  const userNames = () => subjects().model.users.map(user => user.text('uid')!);

  /**
   * Expects a viewer to find the same users as in the model. Returns their
   * names.
   */
  async function expectSameUsers(
    queries: readonly {
      readonly by: Viewer;
      readonly selection: Parameters<NaiveDirectory['listUsers']>[0];
    }[],
  ): Promise<readonly (readonly string[])[]> {
    const { directory, model } = subjects();
    const found = await resultsOf(queries, async ({ by, selection }) => {
      const users = await viewedBy(directory, by).listUsers(
        selection,
        contextOf(by),
      );
      return users && { ...users, items: users.items.map(nameOf) };
    });
    const expected = await resultsOf(queries, async ({ by, selection }) => {
      const users = model.listUsersFor(by, selection);
      return users && { ...users, items: users.items.map(nameOf) };
    });
    expect(found).toEqual(expected);
    return found.map(({ result }) => result?.items ?? []);
  }

  it('does not find users by hidden fields', async () => {
    const { model } = subjects();
    const conditions = searchTerms(model).map(terms => allOf(...terms));
    const where = fc.oneof<fc.Arbitrary<UserPredicate>[]>(
      conditions,
      conditions,
      conditions.map(not),
    );
    const arbitrary = fc.record({
      by: viewer(userNames()),
      selection: fc.record({
        from: fc.constant({ kind: 'all' as const }),
        where,
        unlockedOnly: fc.boolean(),
        fields: fc.constant(fields),
        page: fc.constantFrom(whole, { number: 2, size: 7 }),
      }),
    });
    const found = await expectSameUsers(
      fc.sample(arbitrary, { numRuns: samples, seed: 6 }),
    );
    expect(found.filter(names => names.length > 0).length).toBeGreaterThan(
      samples / 4,
    );
  });

  const veiled = { kind: 'equals', field: 'surname', text: 'veiled' } as const;

  it.each([
    { by: 'condition', selects: { where: veiled } },
    { by: 'order', selects: { order: { kind: 'byTier', tiers: [veiled] } } },
  ] as const)(
    'finds a user by a hidden field only for that user ($by)',
    async ({ selects }) => {
      const { directory, model } = subjects();
      const asUser = async (owner: string | undefined, isHidden = true) => {
        const by: Viewer = {
          kind: 'public',
          hidden: new Set([isHidden ? 'surname' : 'emails']),
          owner,
        };
        const users = await viewedBy(directory, by).listUsers(
          { from: { kind: 'all' }, ...selects, fields, page: whole },
          contextOf(by),
        );
        return users.items.map(nameOf);
      };
      const isPrivate = model.users.some(
        user => user.text('fasIsPrivate') === 'TRUE',
      );
      expect(await asUser('veiled')).toEqual(['veiled']);
      expect(await asUser('alice')).toEqual(isPrivate ? [] : ['veiled']);
      expect(await asUser(undefined)).toEqual(isPrivate ? [] : ['veiled']);
      expect(await asUser('alice', false)).toEqual(['veiled']);
    },
  );

  it('selects members by visible fields', async () => {
    const { model } = subjects();
    const arbitrary = fc
      .record({
        by: viewer(userNames()),
        groupname: fc.constantFrom(
          ...model.groups.map(group => group.text('cn')!),
        ),
        selection: memberSelection(model),
      })
      .map(({ by, groupname, selection: { membership, where } }) => ({
        by,
        selection: {
          from: { kind: 'membersOf' as const, groupname, membership },
          where,
          fields,
          page: whole,
        },
      }));
    const found = await expectSameUsers(
      fc.sample(arbitrary, { numRuns: samples, seed: 7 }),
    );
    expect(found.filter(names => names.length > 0).length).toBeGreaterThan(
      samples / 8,
    );
  });

  it('finds users by a text in visible fields', async () => {
    const { model } = subjects();
    const names = ['username', 'human_name', 'ircnicks'] as const;
    const hiding = model.users.filter(
      user => user.text('fasIsPrivate') === 'TRUE',
    );
    const arbitrary = fc
      .record({
        by: viewer(userNames()),
        // Texts of other users rarely match private users.
        order: textOrder(hiding.length > 0 ? hiding : model.users, names),
      })
      .map(({ by, order }) => ({
        by,
        selection: {
          from: { kind: 'all' as const },
          order,
          fields,
          page: whole,
        },
      }));
    const found = await expectSameUsers(
      fc.sample(arbitrary, { numRuns: samples, seed: 10 }),
    );
    expect(found.filter(users => users.length > 0).length).toBeGreaterThan(
      samples / 8,
    );
  });

  it('finds users by visible public keys', async () => {
    const { model } = subjects();
    const keys = model.users.flatMap(user => [
      ...user
        .texts('ipaSshPubKey')
        .map(text => ({ field: 'sshpubkeys' as const, text })),
      ...user
        .texts('fasGPGKeyId')
        .map(text => ({ field: 'gpgkeyids' as const, text })),
    ]);
    const arbitrary = fc
      .record({
        by: viewer(userNames()),
        key: fc.constantFrom(...keys),
        isKeyId: fc.boolean(),
      })
      .map(({ by, key: { field, text }, isKeyId }) => ({
        by,
        selection: {
          from: { kind: 'all' as const },
          where: {
            kind: 'publicKey' as const,
            field,
            id: publicKeyId(
              isKeyId && field === 'gpgkeyids' ? text.slice(-16) : text,
            ),
          },
          fields,
          page: whole,
        },
      }));
    const found = await expectSameUsers(
      fc.sample(arbitrary, { numRuns: samples, seed: 11 }),
    );
    expect(found.filter(users => users.length > 0).length).toBeGreaterThan(
      samples / 10,
    );
  });

  it('orders users by visible fields', async () => {
    const { model } = subjects();
    const arbitrary = fc
      .record({
        by: viewer(userNames(), ['creation']),
        dn: fc.constantFrom(...model.users.map(({ dn }) => dn)),
        order: fc.constantFrom({ kind: 'newestFirst' as const }, BY_NAME),
      })
      .map(({ by, dn, order }) => ({
        by,
        selection: {
          from: { kind: 'colleaguesOf' as const, dn },
          order,
          fields,
          page: whole,
        },
      }));
    const found = await expectSameUsers(
      fc.sample(arbitrary, { numRuns: samples, seed: 5 }),
    );
    expect(found.filter(names => names.length > 3).length).toBeGreaterThan(
      samples / 10,
    );
  });
}

function nameOf({ username }: { readonly username: string }): string {
  return username;
}

/** Returns the directory as a viewer may see it. */
function viewedBy(directory: Directory, by: Viewer): PrivateDirectory {
  return new PrivateDirectory(directory, {
    hidden: by.kind === 'public' ? by.hidden : new Set(),
    trustedReaders: new PrincipalSet({}),
  });
}

function contextOf(by: Viewer): CallerContext {
  const username = by.kind === 'public' ? by.owner : undefined;
  return {
    ...context,
    caller: { account: { username } } as CallerContext['caller'],
  };
}
