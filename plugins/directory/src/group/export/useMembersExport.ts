import { useApi } from '@backstage/frontend-plugin-api';
import { useEffect, useRef, useState } from 'react';
import { directoryApiRef } from '../../api/directoryApi';
import { saveFile } from '../../components/saveFile';
import { type ExportProgress, readMembersFile } from '../readMembersFile';

/** What has become of an export. */
export type ExportState =
  | { kind: 'idle' }
  | { kind: 'running'; progress: ExportProgress | undefined }
  | { kind: 'saved'; rows: number }
  | { kind: 'canceled' }
  | { kind: 'failed' };

/** Saves a group's members as a file; leaving the page cancels it. */
export function useMembersExport(groupname: string) {
  const { client } = useApi(directoryApiRef);
  const [state, setState] = useState<ExportState>({ kind: 'idle' });
  const running = useRef<AbortController>();

  useEffect(() => () => running.current?.abort(), []);

  async function start() {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setState({ kind: 'running', progress: undefined });
    try {
      const { file, rows } = await readMembersFile({
        client,
        groupname,
        signal,
        onProgress: progress => setState({ kind: 'running', progress }),
      });
      saveFile({
        name: `${groupname}-members.csv`,
        type: file.type,
        content: file,
      });
      setState({ kind: 'saved', rows });
    } catch {
      setState({ kind: signal.aborted ? 'canceled' : 'failed' });
    }
  }

  return { state, start, cancel: () => running.current?.abort() };
}
