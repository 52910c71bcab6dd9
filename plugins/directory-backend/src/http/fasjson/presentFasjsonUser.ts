import { userFields, type UserField } from '../../directory/schema';
import type { User } from '../../directory/records';
import type { RecordModel } from '../response/fieldMask';
import { presentRecord } from '../response/presentRecord';
import { memberModel, userFieldsFor, userModel } from '../response/presentUser';
import type { ResourceUris } from '../response/ResourceUris';

/** What the reference had before there could be several. */
const SINGULAR = { website: 'websites', rssurl: 'rssurls' } as const;

/** The keys of a user's record in the reference's order. */
export const fasjsonUserModel = withSingulars(userModel);

/** As `memberModel`, with the reference's keys. */
export const fasjsonMemberModel = withSingulars(memberModel);

/** As `userFieldsFor`, of the reference's keys. */
export function fasjsonUserFieldsFor(
  keys: readonly string[],
): ReadonlySet<UserField> {
  return userFieldsFor(
    keys.map(key => (isSingular(key) ? SINGULAR[key] : key)),
  );
}

/** A user as the reference shows it. */
export function presentFasjsonUser(
  user: User,
  keys: readonly string[],
  uris: ResourceUris,
): Record<string, unknown> {
  return presentRecord(user, {
    keys,
    fields: userFields,
    uri: uris.user(user.username),
    besides: {
      locked: user.locked ?? false,
      website: user.websites?.[0] ?? null,
      rssurl: user.rssurls?.[0] ?? null,
    },
  });
}

function isSingular(key: string): key is keyof typeof SINGULAR {
  return Object.hasOwn(SINGULAR, key);
}

function withSingulars(model: RecordModel): RecordModel {
  const at = model.keys.indexOf(SINGULAR.website);
  return {
    ...model,
    keys: [
      ...model.keys.slice(0, at),
      ...Object.keys(SINGULAR),
      ...model.keys.slice(at),
    ],
  };
}
