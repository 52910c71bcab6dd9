import type {
  AuditorService,
  AuditorServiceEvent,
} from '@backstage/backend-plugin-api';
import { directoryMembersExportPermission } from '@directory-gateway/backstage-plugin-directory-common';
import { CallerAudit } from '../../directory/CallerAudit';
import type { UserStream } from '../../directory/Directory';
import { isGroupName } from '../../directory/names';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import { type RecordModel, resolveFields } from '../response/fieldMask';
import { groupNotFound } from '../response/apiErrors';
import { FileStream } from '../response/FileStream';
import {
  memberModel,
  presentUser,
  userFieldsFor,
} from '../response/presentRecords';
import type { ResourceUris } from '../response/ResourceUris';
import { toError } from '@backstage/errors';
import { stringify } from 'csv-stringify/sync';

const csvModel: RecordModel = {
  ...memberModel,
  defaults: ['username', 'human_name', 'emails', 'uri'],
};

/** An extension: all members of a group as CSV, each export on record. */
export function exportMembersOperation(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
  readonly auditor: AuditorService;
}): Operation {
  const { directory, uris } = options;
  const audit = new CallerAudit(options.auditor, {
    eventId: 'group-export',
    severityLevel: 'medium',
  });
  return {
    id: 'export_group_members',
    method: 'get',
    path: '/groups/:groupname/members.csv',
    permission: directoryMembersExportPermission,
    recordDenial: ({ caller, error, params: { groupname } }) =>
      audit.recordDenial(caller, error, {
        groupname: isGroupName(groupname) ? groupname : 'invalid',
      }),
    async handle({ params: { groupname }, caller, fieldMask, context }) {
      const keys = resolveFields(fieldMask, csvModel);
      const members = await directory.streamUsers(
        { from: { kind: 'membersOf', groupname }, fields: userFieldsFor(keys) },
        context,
      );
      if (!members) {
        throw groupNotFound(groupname);
      }
      return new FileStream({
        contentType: 'text/csv; charset=utf-8; header=present',
        headers: {
          'Content-Disposition': `attachment; filename="${fileName(
            groupname,
          )}"`,
          'X-Total-Results': String(members.total),
        },
        chunks: auditedChunks(portionsOf(members, keys, uris), () =>
          audit.start(caller, {
            groupname,
            fields: keys.join(','),
            members: members.total,
          }),
        ),
      });
    },
  };
}

async function* portionsOf(
  members: UserStream,
  keys: readonly string[],
  uris: ResourceUris,
) {
  let header = [keys];
  for await (const users of members.batches) {
    const rows = users.map(user =>
      Object.values(presentUser(user, keys, uris)),
    );
    yield { rows: users.length, text: csvRows([...header, ...rows]) };
    header = [];
  }
  if (header.length > 0) {
    yield { rows: 0, text: csvRows(header) };
  }
}

/** Group names contain only letters, digits, spaces and `_.-$`. */
function fileName(groupname: string): string {
  return `${groupname.replace(/^\.+/, '_')}-members.csv`;
}

/** Some rows of a file. */
export interface Portion {
  readonly rows: number;
  readonly text: string;
}

/**
 * The text of a file with an audit event round it, made when the first portion
 * is asked for: how many rows were given away, and whether that was all.
 */
export async function* auditedChunks(
  batches: AsyncIterable<Portion>,
  createEvent: () => Promise<AuditorServiceEvent>,
): AsyncGenerator<string, void, undefined> {
  const event = await createEvent();
  let rows = 0;
  let error: unknown = new Error('The caller left before the end');
  try {
    for await (const portion of batches) {
      rows += portion.rows;
      yield portion.text;
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

/** Several values of one cell. */
const SEPARATOR = '; ';

/**
 * Where a spreadsheet starts to read a cell as a formula: at its start, and,
 * because programs disagree about quotes and separators, after a line break or
 * a semicolon.
 */
const FORMULA = /(^|[\r\n;])( *)(?=[=+\-@\t＝＋－＠])/g;

/**
 * Returns rows of cells as CSV (RFC 4180). An apostrophe is inserted in front
 * of each text that a spreadsheet could run as a formula (OWASP, "CSV
 * Injection").
 */
export function csvRows(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map(cells => cells.map(cell => defuse(textOf(cell)))),
    { record_delimiter: 'windows', quoted_match: [/[\r\n;]/] },
  );
}

function defuse(text: string): string {
  return text.replace(FORMULA, "$1$2'").replace(/^(?=[\r\n])/, "'");
}

/** A value of a presented record: a scalar, a list of texts, or null. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(SEPARATOR) : String(value ?? '');
}
