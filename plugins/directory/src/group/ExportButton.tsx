import { useApi, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Text } from '@backstage/ui';
import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import { RiDownloadLine } from '@remixicon/react';
import { useEffect, useRef, useState } from 'react';
import { directoryApiRef, isSessionEnded } from '../api/directoryApi';
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

type ExportState = 'idle' | 'running' | 'done' | 'failed' | 'sessionEnded';

/** Button that downloads the members on all pages as CSV, or stops that. */
export function ExportButton(options: ExportOptions) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { state, start, cancel } = useMembersExport(options);
  const outcomes = {
    idle: '',
    running: t('group.export.running'),
    done: t('group.export.done'),
    failed: t('group.export.failed'),
    sessionEnded: t('states.sessionEnded'),
  };
  const labels: Partial<Record<ExportState, string>> = {
    running: t('group.export.cancel'),
    failed: t('group.export.again'),
    sessionEnded: t('states.signInAgain'),
  };
  const isFailed = state === 'failed' || state === 'sessionEnded';

  return (
    <Flex align="center" gap="2" style={{ flexWrap: 'wrap' }}>
      <Text
        role="status"
        variant="body-small"
        color={isFailed ? 'danger' : 'secondary'}
      >
        {outcomes[state]}
      </Text>
      <Button
        size="small"
        variant="secondary"
        iconStart={<RiDownloadLine />}
        onPress={state === 'running' ? cancel : start}
      >
        {labels[state] ?? t('group.export.start')}
      </Button>
    </Flex>
  );
}

/** Downloads a group's members. Leaving the page cancels the download. */
function useMembersExport(options: ExportOptions) {
  const { groupname } = options;
  const { client } = useApi(directoryApiRef);
  const [state, setState] = useState<ExportState>('idle');
  const running = useRef<AbortController>();

  useEffect(() => () => running.current?.abort(), []);

  async function start() {
    const { signal } = (running.current = new AbortController());
    setState('running');
    try {
      const content = await readMembers(client, { ...options, signal });
      saveFile({
        name: `${groupname}-members.csv`,
        type: 'text/csv;charset=utf-8',
        content,
      });
      setState('done');
    } catch (error) {
      if (signal.aborted) {
        setState('idle');
      } else {
        setState(isSessionEnded(error) ? 'sessionEnded' : 'failed');
      }
    }
  }

  return { state, start, cancel: () => running.current?.abort() };
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
 * @throws when the download fails or is canceled, so that no partial list is
 *   saved
 */
async function readMembers(
  client: DirectoryClient,
  options: ExportOptions & { signal: AbortSignal },
): Promise<Blob> {
  const { groupname, query, hasHistory, signal } = options;
  const fields = hasHistory ? [...FIELDS, 'joined'] : FIELDS;
  const { data } = await client.stream('/groups/{groupname}/members.csv', {
    params: {
      path: { groupname },
      header: { 'X-Fields': fields.join(',') },
      query: selectionOf(query),
    },
    signal,
  });
  // An abort may leave the stream open.
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), {
      once: true,
    }),
  );
  const content = await Promise.race([new Response(data).blob(), aborted]);
  return new Blob([BYTE_ORDER_MARK, content]);
}
