import type { Caller, CallerContext, PrincipalSet } from './Caller';
import type {
  Directory,
  GroupSelection,
  ListedGroup,
  Paged,
  UserSelection,
  UserStream,
} from './Directory';
import type { Page } from './Page';
import {
  allOf,
  anyOf,
  not,
  visitPredicate,
  type UserCondition,
  type UserPredicate,
} from './predicates';
import { userFieldNames, type UserField } from './schema';
import { emptyUser, type User } from './records';

/** Which fields of a user are hidden from other users. */
export interface PrivacyPolicy {
  /** Hidden in private profiles, except from their owners. */
  readonly hidden: ReadonlySet<UserField>;
  /** Callers that see private profiles without restriction. */
  readonly trustedReaders: PrincipalSet;
  /** Hidden in every profile, except from its owner. Default: none. */
  readonly ownOnly?: ReadonlySet<UserField>;
}

const NO_FIELDS: ReadonlySet<UserField> = new Set();

/** The privacy policy for one caller. */
interface HiddenFields {
  readonly inPrivate: ReadonlySet<UserField>;
  readonly inAll: ReadonlySet<UserField>;
  /** User name of the caller, whose own profile is not restricted. */
  readonly owner: string | undefined;
}

/** Adds to users what the directory does not have, if its field is read. */
type Completion = (
  users: readonly User[],
  fields: ReadonlySet<UserField>,
) => Promise<readonly User[]>;

type UserOrder = NonNullable<UserSelection['order']>;

/** A result, which is never `undefined` for a list that always exists. */
type Found<Selection, Result> = Selection extends {
  readonly from: { readonly kind: 'all' | 'colleaguesOf' };
}
  ? Result
  : Result | undefined;

/** A method of the port, with the context of a caller. */
type ForCaller<Method extends keyof Directory> = (
  query: Parameters<Directory[Method]>[0],
  context: CallerContext,
) => ReturnType<Directory[Method]>;

/**
 * The privacy policy, as a decorator of a directory: a condition on a hidden
 * field does not apply to profiles in which it is hidden, and hidden fields are
 * removed from results. No handler can read a hidden field.
 */
export class PrivateDirectory {
  readonly #directory: Directory;
  readonly #policy: PrivacyPolicy;
  readonly #complete: Completion | undefined;
  /** Hidden in private profiles, except from owners and trusted readers. */
  readonly hiddenFields: ReadonlySet<UserField>;

  /** @param complete - default: the directory has all fields */
  constructor(
    directory: Directory,
    policy: PrivacyPolicy,
    complete?: Completion,
  ) {
    this.#directory = directory;
    this.#policy = policy;
    this.#complete = complete;
    this.hiddenFields = new Set([
      ...policy.hidden,
      ...(policy.ownOnly ?? NO_FIELDS),
    ]);
  }

  /** Like {@link Directory.getUser}, without hidden fields. */
  getUser: ForCaller<'getUser'> = async (query, context) => {
    const hidden = this.#hiddenFrom(context.caller);
    const fields = this.#fieldsToRead(query.fields);
    const user = await this.#directory.getUser({ ...query, fields }, context);
    return user && (await this.#present([user], fields, hidden))[0];
  };

  /** Like {@link Directory.listUsers}, without hidden fields. */
  async listUsers<Selection extends UserSelection & Paged>(
    selection: Selection,
    context: CallerContext,
  ): Promise<Found<Selection, Page<User>>> {
    const hidden = this.#hiddenFrom(context.caller);
    const restricted = this.#restrict(selection, hidden);
    const page = await this.#directory.listUsers(restricted, context);
    return (page && {
      ...page,
      items: await this.#present(page.items, restricted.fields, hidden),
    }) as Found<Selection, Page<User>>;
  }

  /** Like {@link Directory.streamUsers}, without hidden fields. */
  async streamUsers<Selection extends UserSelection>(
    selection: Selection,
    context: CallerContext,
  ): Promise<Found<Selection, UserStream>> {
    const hidden = this.#hiddenFrom(context.caller);
    const restricted = this.#restrict(selection, hidden);
    const stream = await this.#directory.streamUsers(restricted, context);
    return (stream && {
      ...stream,
      batches: this.#presentAll(stream.batches, restricted.fields, hidden),
    }) as Found<Selection, UserStream>;
  }

  /** Like {@link Directory.listGroups}: memberships are never private. */
  async listGroups<Selection extends GroupSelection & Paged>(
    selection: Selection,
    context: CallerContext,
  ): Promise<Found<Selection, Page<ListedGroup>>> {
    const page = await this.#directory.listGroups(selection, context);
    return page as Found<Selection, Page<ListedGroup>>;
  }

  /** See {@link Directory.getGroup}. */
  getGroup: ForCaller<'getGroup'> = (query, context) =>
    this.#directory.getGroup(query, context);

  /** See {@link Directory.isMember}. */
  isMember: ForCaller<'isMember'> = (query, context) =>
    this.#directory.isMember(query, context);

  /** See {@link Directory.countMembers}. */
  countMembers: ForCaller<'countMembers'> = (query, context) =>
    this.#directory.countMembers(query, context);

  /**
   * Like {@link Directory.membershipReasons}: memberships are never private.
   */
  membershipReasons: ForCaller<'membershipReasons'> = (query, context) =>
    this.#directory.membershipReasons(query, context);

  /** See {@link Directory.listAgreements}. */
  listAgreements: ForCaller<'listAgreements'> = (query, context) =>
    this.#directory.listAgreements(query, context);

  /** Whether a caller may see a field of a user, read with `is_private`. */
  isVisible(
    field: UserField,
    query: { readonly user: User; readonly caller: Caller },
  ): boolean {
    const { user, caller } = query;
    return !hiddenIn(user, this.#hiddenFrom(caller)).has(field);
  }

  /** Whether a caller may see a field of every user. */
  isVisibleOfAll(field: UserField, caller: Caller): boolean {
    const { inPrivate, inAll } = this.#hiddenFrom(caller);
    return !inPrivate.has(field) && !inAll.has(field);
  }

  /** Completes users, and removes hidden fields. */
  async #present(
    users: readonly User[],
    fields: ReadonlySet<UserField>,
    hidden: HiddenFields,
  ): Promise<readonly User[]> {
    const complete = this.#complete
      ? await this.#complete(users, fields)
      : users;
    return complete.map(user => redact(user, fields, hidden));
  }

  async *#presentAll(
    batches: AsyncIterable<readonly User[]>,
    fields: ReadonlySet<UserField>,
    hidden: HiddenFields,
  ): AsyncIterable<readonly User[]> {
    for await (const users of batches) {
      yield await this.#present(users, fields, hidden);
    }
  }

  #hiddenFrom(caller: Caller): HiddenFields {
    const { trustedReaders, ownOnly = NO_FIELDS } = this.#policy;
    return {
      inPrivate: trustedReaders.has(caller) ? ownOnly : this.hiddenFields,
      inAll: ownOnly,
      owner: caller.account?.username,
    };
  }

  /** Adds the private flag when the visibility of a field depends on it. */
  #fieldsToRead(fields: ReadonlySet<UserField>): ReadonlySet<UserField> {
    const { hidden } = this.#policy;
    return [...fields].some(field => hidden.has(field))
      ? new Set([...fields, 'is_private'])
      : fields;
  }

  #restrict<S extends UserSelection>(selection: S, hidden: HiddenFields): S {
    const { where, order } = selection;
    return {
      ...selection,
      fields: this.#fieldsToRead(selection.fields),
      where: where && restrictConditions(where, hidden),
      order: order && restrictOrder(order, hidden),
    };
  }
}

/** Restricts an order, so that it does not reveal a hidden field. */
function restrictOrder(order: UserOrder, hidden: HiddenFields): UserOrder {
  if (order.kind === 'byTier') {
    return {
      ...order,
      tiers: order.tiers.map(tier => restrictConditions(tier, hidden)),
    };
  }
  const field = order.kind === 'byValue' ? order.field : 'creation';
  const visible = visibleTo(field, hidden);
  return visible
    ? { ...order, where: order.where ? allOf(order.where, visible) : visible }
    : order;
}

/** The profiles in which a field is visible; `undefined` for all. */
function visibleTo(
  field: UserField,
  { inPrivate, inAll, owner }: HiddenFields,
): UserPredicate | undefined {
  const own: UserPredicate =
    owner === undefined ? anyOf() : { kind: 'isUser', username: owner };
  if (inAll.has(field)) {
    return own;
  }
  return inPrivate.has(field)
    ? anyOf(not({ kind: 'isTrue', field: 'is_private' }), own)
    : undefined;
}

function restrictConditions(
  where: UserPredicate,
  hidden: HiddenFields,
): UserPredicate {
  return visitPredicate<UserCondition, UserPredicate>(where, {
    condition: condition => {
      const visible =
        'field' in condition ? visibleTo(condition.field, hidden) : undefined;
      return visible ? allOf(condition, visible) : condition;
    },
    allOf: parts => allOf(...parts),
    anyOf: parts => anyOf(...parts),
    not,
  });
}

function hiddenIn(
  { username, is_private: isPrivate }: Pick<User, 'username' | 'is_private'>,
  { inPrivate, inAll, owner }: HiddenFields,
): ReadonlySet<UserField> {
  if (username === owner) {
    return NO_FIELDS;
  }
  return isPrivate ? inPrivate : inAll;
}

/** Returns the same object when nothing is hidden. */
function redact(
  user: User,
  fields: ReadonlySet<UserField>,
  hiddenFields: HiddenFields,
): User {
  // A record that was read without the flag counts as private.
  const hidden = hiddenIn(
    fields.has('is_private') ? user : { ...user, is_private: true },
    hiddenFields,
  );
  if (!hasAny(user, hidden)) {
    return user;
  }
  const shown: Record<UserField, unknown> = emptyUser();
  for (const field of userFieldNames) {
    if (!hidden.has(field)) {
      shown[field] = user[field];
    }
  }
  return shown as User;
}

/** Does not create an iterator for the empty set, the usual case. */
function hasAny(user: User, fields: ReadonlySet<UserField>): boolean {
  if (fields.size > 0) {
    for (const field of fields) {
      if (user[field] !== undefined) {
        return true;
      }
    }
  }
  return false;
}
