import type {
  AuditorService,
  AuditorServiceEvent,
} from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import { directoryMembersExportPermission } from '@directory-gateway/backstage-plugin-directory-common';
import { stringify } from 'csv-stringify/sync';
import {
  CallerAudit,
  isGroupName,
  type User,
  type UserStream,
} from '@directory-gateway/directory-core';
import { type Operation, operation } from '../api/Operation';
import { parseMembershipSelection } from '../request/parseGroupSearch';
import type { RecordModel } from '../response/fieldMask';
import { groupNotFound } from '../../apiErrors';
import { FileStream } from '../response/FileStream';
import type { HistoryOptions } from './history';
import { found } from './lists';
import { groupMembershipModel, selectMemberships } from './memberships';

const csvModel: RecordModel = {
  ...groupMembershipModel,
  defaults: ['username', 'human_name', 'emails', 'uri'],
};

/** An extension: all members of a group as CSV. Exports are audited. */
export function exportMembersOperation(
  options: HistoryOptions & { readonly auditor: AuditorService },
): Operation {
  const { directory } = options;
  const audit = new CallerAudit(options.auditor, {
    eventId: 'group-export',
    severityLevel: 'medium',
  });
  return operation({
    id: 'export_group_members',
    path: '/groups/:groupname/members.csv',
    permission: directoryMembersExportPermission,
    recordDenial: ({ caller, error, params: { groupname } }) =>
      audit.recordDenial(caller, error, {
        groupname: isGroupName(groupname) ? groupname : 'invalid',
      }),
    model: csvModel,
    parse: ({ query }, errors) => parseMembershipSelection(query, errors),
    async handle(call, { input: selected, keys }) {
      const { caller, context, params } = call;
      const { groupname } = params;
      const { selection, presentAll } = await selectMemberships(options, {
        call,
        selected,
        keys,
      });
      const members = await directory.streamUsers(selection, context);
      const { batches, total } = found(members, () => groupNotFound(groupname));
      return new FileStream({
        contentType: 'text/csv; charset=utf-8; header=present',
        headers: {
          'Content-Disposition': `attachment; filename="${fileName(
            groupname,
          )}"`,
          'X-Total-Results': String(total),
        },
        chunks: auditExport(csvBatchesOf(batches, keys, presentAll), () =>
          audit.start(caller, {
            groupname,
            fields: keys.join(','),
            members: total,
          }),
        ),
      });
    },
  });
}

async function* csvBatchesOf(
  batches: UserStream['batches'],
  keys: readonly string[],
  presentAll: (users: readonly User[]) => Promise<Record<string, unknown>[]>,
): AsyncGenerator<CsvBatch> {
  let header = [keys];
  for await (const users of batches) {
    const records = await presentAll(users);
    const rows = records.map(record => Object.values(record));
    yield { rows: users.length, text: toCsv([...header, ...rows]) };
    header = [];
  }
  if (header.length > 0) {
    yield { rows: 0, text: toCsv(header) };
  }
}

/** Group names contain only letters, digits, spaces and `_.-$`. */
function fileName(groupname: string): string {
  return `${groupname.replace(/^\.+/, '_')}-members.csv`;
}

/** Rows of a CSV file. */
export interface CsvBatch {
  readonly rows: number;
  readonly text: string;
}

/**
 * Yields the text of an export and audits it: the event starts with the first
 * batch and records the number of rows sent and whether the export completed.
 */
export async function* auditExport(
  batches: AsyncIterable<CsvBatch>,
  createEvent: () => Promise<AuditorServiceEvent>,
): AsyncGenerator<string, void, undefined> {
  const event = await createEvent();
  let rows = 0;
  let error: unknown = new Error('The client disconnected before the end');
  try {
    for await (const batch of batches) {
      rows += batch.rows;
      yield batch.text;
    }
    error = undefined;
  } catch (thrown) {
    error = thrown;
    throw thrown;
  } finally {
    const meta = { rows };
    await (error === undefined
      ? event.success({ meta })
      : event.fail({ meta, error: toError(error) }));
  }
}

/** Separates the values of a list in a cell. */
const SEPARATOR = '; ';

/**
 * Positions where a spreadsheet may read a formula: at the start of a cell and,
 * because programs treat quotes and separators differently, after a line break
 * or a semicolon.
 */
const FORMULA = /(^|[\r\n;])( *)(?=[=+\-@\t＝＋－＠])/g;

/**
 * Returns rows of cells as CSV (RFC 4180). An apostrophe is inserted in front
 * of each text that a spreadsheet could run as a formula (OWASP, "CSV
 * Injection").
 */
export function toCsv(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map(cells => cells.map(cell => defuse(textOf(cell)))),
    { record_delimiter: 'windows', quoted_match: [/[\r\n;]/] },
  );
}

function defuse(text: string): string {
  return text.replace(FORMULA, "$1$2'").replace(/^(?=[\r\n])/, "'");
}

/** Converts a value of a presented record: a scalar, a list, or null. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(SEPARATOR) : String(value ?? '');
}
