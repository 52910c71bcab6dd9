import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Text } from '@backstage/ui';
import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import { RiDownloadLine } from '@remixicon/react';
import { isSessionEnded } from '../api/directoryApi';
import { useDirectoryMutation } from '../api/useDirectoryQuery';
import { saveFile } from '../components/saveFile';
import { directoryTranslationRef } from '../translation';
import { type MembersQuery, selectionOf } from './useMembers';

interface ExportOptions {
  groupname: string;

  /** Selection and order of the exported members. */
  query: MembersQuery;

  /** Whether to export the join times of members. */
  hasHistory: boolean;
}

/** Button that downloads the members on all pages as CSV. */
export function ExportButton(options: ExportOptions) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { mutate, isPending, isSuccess, error } = useDirectoryMutation(
    async client =>
      saveFile({
        name: `${options.groupname}-members.csv`,
        type: 'text/csv;charset=utf-8',
        content: await readMembers(client, options),
      }),
  );
  const hasEnded = isSessionEnded(error);
  const failure = hasEnded ? 'states.sessionEnded' : 'group.export.failed';
  const retry = hasEnded ? 'states.signInAgain' : 'states.retry';

  return (
    <Flex align="center" gap="2" style={{ flexWrap: 'wrap' }}>
      <Text
        role="status"
        variant="body-small"
        color={error ? 'danger' : 'secondary'}
      >
        {error && t(failure)}
        {isSuccess && t('group.export.done')}
      </Text>
      <Button
        size="small"
        variant="secondary"
        iconStart={<RiDownloadLine />}
        isPending={isPending}
        onPress={() => mutate()}
      >
        {t(error ? retry : 'group.export.start')}
      </Button>
    </Flex>
  );
}

const FIELDS = [
  ...['username', 'human_name', 'emails', 'direct', 'path'],
  ...['sponsor', 'locked', 'timezone'],
];

/** Spreadsheet programs need it to read the file as UTF-8. */
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/**
 * Reads the selected members of a group as CSV for spreadsheet programs.
 *
 * @throws when the download fails, so that no partial list is saved
 */
async function readMembers(
  client: DirectoryClient,
  options: ExportOptions,
): Promise<Blob> {
  const { groupname, query, hasHistory } = options;
  const fields = hasHistory ? [...FIELDS, 'joined'] : FIELDS;
  const { data } = await client.stream('/groups/{groupname}/members.csv', {
    params: {
      path: { groupname },
      header: { 'X-Fields': fields.join(',') },
      query: selectionOf(query),
    },
  });
  return new Blob([BYTE_ORDER_MARK, await new Response(data).blob()]);
}
