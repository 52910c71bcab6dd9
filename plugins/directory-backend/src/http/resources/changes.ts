import type { Change } from '../../changes/ChangeLog';
import type { Changes } from '../../changes/createChanges';
import { type Operation, operation } from '../api/Operation';
import { readNumber } from '../request/parsePage';
import { ApiError } from '../../apiErrors';

const PAGE_SIZE = { label: 'Page size', min: 1, max: 1000, fallback: 1000 };

/** An extension: the changes in the directory. */
export function changesOperation({
  changes,
}: {
  readonly changes: Pick<Changes, 'feed'>;
}): Operation {
  return operation({
    id: 'list_changes',
    path: '/changes/',
    parse: ({ query }, errors) =>
      readNumber(query, 'page_size', PAGE_SIZE, errors),
    async handle({ query, context }, { input: limit }) {
      const cursor = query.get('cursor') ?? undefined;
      const page = await changes.feed.read({ cursor, limit, context });
      if (!page) {
        throw new ApiError(410, {
          message:
            'The changes after this cursor are not available. Send a request without a cursor to get a new one, then read all records again.',
        });
      }
      return {
        result: page.changes.map(presentChange),
        cursor: page.cursor,
        has_more: page.hasMore,
      };
    },
  });
}

export function presentChange(change: Change) {
  const { kind, time, name, old_name, member_kind, member_name } = change;
  const key = kind.startsWith('user_') ? 'username' : 'groupname';
  const memberKey = member_kind === 'user' ? 'username' : 'member_groupname';
  return {
    kind,
    time: time.toISOString(),
    [key]: name,
    ...(old_name && { [`old_${key}`]: old_name }),
    ...(member_kind && { [memberKey]: member_name }),
  };
}
