import type { AuditorService } from '@backstage/backend-plugin-api';
import { directoryMembersExportPermission } from '@directory-gateway/backstage-plugin-directory-common';
import { CallerAudit } from '../../directory/CallerAudit';
import type { UserStream } from '../../directory/Directory';
import { isGroupName } from '../../directory/names';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import { auditedChunks } from './auditedChunks';
import { resolveFields, type RecordModel } from '../response/fieldMask';
import { groupNotFound } from '../response/apiErrors';
import { csvRows } from './csvRows';
import { FileStream } from '../response/FileStream';
import {
  memberModel,
  presentUser,
  userFieldsFor,
} from '../response/presentUser';
import type { ResourceUris } from '../response/ResourceUris';

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
    recordRefusal: ({ caller, error, params: { groupname } }) =>
      audit.refuse(caller, error, {
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
  for await (const users of members.portions) {
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
