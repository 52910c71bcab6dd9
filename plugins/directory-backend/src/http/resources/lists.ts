import type {
  GroupSelection,
  Page,
  PageRequest,
  PrivateDirectory,
  User,
  UserSelection,
} from '@directory-gateway/directory-core';
import type { Dialect } from '../api/Dialect';
import { type Call, type Operation, operation } from '../api/Operation';
import type { ParameterErrors } from '../request/ParameterErrors';
import { WHOLE_LIST } from '../request/parsePage';
import { groupNotFound } from '../../apiErrors';
import type { RecordModel } from '../response/fieldMask';
import { streamedList } from '../response/FileStream';
import { groupFieldsFor, presentGroups } from '../response/presentRecords';

/** Dependencies of operations that read the directory. */
export interface DirectoryOptions {
  readonly directory: PrivateDirectory;
  readonly dialect: Dialect;
}

/** An operation that lists records. */
interface ListOperation<Selection extends { readonly fields: unknown }> {
  readonly id: string;
  readonly path: string;
  readonly model: RecordModel;
  /** Parses the selection of records: one page, or all records without one. */
  select(
    call: Call,
    errors: ParameterErrors,
  ): Omit<Selection, 'fields'> & { readonly page: PageRequest | undefined };
}

/** Creates an operation that lists users. Lists without a page are streamed. */
export function userList(
  { directory, dialect }: DirectoryOptions,
  options: ListOperation<UserSelection> & {
    /** Default: `Dialect.presentUser`. */
    readonly present?: Dialect['presentUser'];
  },
): Operation {
  const { id, path, model, select } = options;
  const presentOne = options.present ?? dialect.presentUser;
  return operation({
    id,
    path,
    model,
    parse: select,
    async handle(call, { input: { page, ...list }, keys }) {
      const { context, params } = call;
      const selection = { ...list, fields: dialect.userFieldsFor(keys) };
      const present = (user: User) => presentOne(user, keys);
      const notFound = () => groupNotFound(params.groupname);
      if (!page) {
        const stream = await directory.streamUsers(selection, context);
        return streamedList(found(stream, notFound), present);
      }
      const users = await directory.listUsers({ ...selection, page }, context);
      const shown = mapPage(found(users, notFound), present);
      return dialect.presentPage(shown, { page, call });
    },
  });
}

/** Creates an operation that lists groups. */
export function groupList(
  { directory, dialect }: DirectoryOptions,
  { id, path, model, select }: ListOperation<GroupSelection>,
): Operation {
  const { uris } = dialect;
  return operation({
    id,
    path,
    model,
    parse: select,
    async handle(call, { input: { page, ...list }, keys }) {
      const { context, params } = call;
      const groups = await directory.listGroups(
        { ...list, page: page ?? WHOLE_LIST, fields: groupFieldsFor(keys) },
        context,
      );
      const listed = found(groups, () =>
        'username' in params
          ? dialect.userOfListNotFound(params.username)
          : groupNotFound(params.groupname),
      );
      const items = await presentGroups(listed.items, {
        keys,
        uris,
        directory,
        context,
      });
      return dialect.presentPage({ ...listed, items }, { page, call });
    },
  });
}

/** Returns a result, or throws the error of a missing entry. */
export function found<T>(result: T | undefined, notFound: () => Error): T {
  if (result === undefined) {
    throw notFound();
  }
  return result;
}

/** Returns a page with each item presented. */
export function mapPage<T, R>(page: Page<T>, present: (item: T) => R): Page<R> {
  return { ...page, items: page.items.map(present) };
}
