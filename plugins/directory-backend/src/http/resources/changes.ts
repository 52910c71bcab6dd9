import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { ChangedEntry, Change } from '../../changes/ChangeLog';
import type { ChangeFeed } from '../../changes/ChangeFeed';
import type { Operation } from '../api/Operation';
import { parseParameters } from '../request/ParameterErrors';
import { readNumber } from '../request/parsePage';
import {
  ApiError,
  InvalidRequestError,
  ResourceNotFoundError,
} from '../response/apiErrors';

const PAGE_SIZE = { label: 'Page size', min: 1, max: 1000, fallback: 1000 };
const WAIT = { label: 'Seconds to wait', min: 0, max: 60, fallback: 0 };

/** An extension: the changes in the directory. */
export function changesOperation({
  changes,
}: {
  /** `undefined` without `directory.changes`. */
  readonly changes: { readonly feed: ChangeFeed } | undefined;
}): Operation {
  return {
    id: 'list_changes',
    method: 'get',
    path: '/changes/',
    permission: directoryReadPermission,
    async handle({ query, context, verifyAgain }) {
      if (!changes) {
        throw new ResourceNotFoundError({
          message:
            'Changes are not logged: directory.changes is not configured.',
        });
      }
      const { limit, wait } = parseParameters(errors => ({
        limit: readNumber(query, 'page_size', PAGE_SIZE, errors),
        wait: readNumber(query, 'wait', WAIT, errors),
      }));
      const result = await changes.feed.read({
        cursor: query.get('cursor') ?? undefined,
        limit,
        waitMs: wait * 1000,
        context,
        verifyAgain,
      });
      switch (result.outcome) {
        case 'invalid':
          throw new InvalidRequestError({
            message: 'Input payload validation failed',
            errors: { cursor: 'Cursor. Must be a cursor of this API.' },
          });
        case 'expired':
          throw new ApiError(410, {
            message:
              'The changes after this cursor are not available. Send a request without a cursor to get a new one, then read all records again.',
          });
        default: {
          const { page } = result;
          return {
            result: page.changes.map(presentChange),
            cursor: page.cursor,
            has_more: page.hasMore,
          };
        }
      }
    },
  };
}

export function presentChange(change: Change) {
  const { kind, time, subject, member, oldName, fields } = change;
  return {
    kind,
    time: time.toISOString(),
    ...nameOf(subject),
    ...(oldName !== undefined && {
      [subject.kind === 'user' ? 'old_username' : 'old_groupname']: oldName,
    }),
    ...(member &&
      (member.kind === 'user'
        ? { username: member.name }
        : { member_groupname: member.name })),
    ...(fields && { fields }),
  };
}

function nameOf({ kind, name }: ChangedEntry) {
  return kind === 'user' ? { username: name } : { groupname: name };
}
