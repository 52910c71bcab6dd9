import { useApi, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Text } from '@backstage/ui';
import { RiDownloadLine } from '@remixicon/react';
import { useEffect, useRef, useState } from 'react';
import { directoryApiRef, isSessionEnded } from '../api/directoryApi';
import { saveFile } from '../components/saveFile';
import { directoryTranslationRef, formatCount } from '../translation';
import styles from './ExportButton.module.css';
import { type ExportProgress, readMembersFile } from './readMembersFile';
import type { MembersQuery } from './useMembers';
import { locale } from '../language';

/**
 * Button that downloads the members on all pages as CSV, with progress, a
 * cancel button and the outcome.
 */
export function ExportButton(props: {
  groupname: string;

  /** Selection and order of the exported members. */
  query: MembersQuery;

  /** Whether to export the join times of members. */
  hasHistory: boolean;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { state, start, cancel } = useMembersExport(props);
  const outcome = () => {
    switch (state.kind) {
      case 'saved':
        return t('group.export.done', formatCount(state.rows));
      case 'canceled':
        return t('group.export.canceled');
      case 'failed':
        return t(
          state.isSessionEnded ? 'states.sessionEnded' : 'group.export.failed',
        );
      default:
        return '';
    }
  };

  const label = () => {
    if (state.kind !== 'failed') {
      return t('group.export.start');
    }
    return t(
      state.isSessionEnded ? 'states.signInAgain' : 'group.export.again',
    );
  };

  return (
    <div className={styles.export}>
      {state.kind === 'running' && <Progress progress={state.progress} />}
      <Text
        role="status"
        variant="body-small"
        color={state.kind === 'failed' ? 'danger' : 'secondary'}
      >
        {outcome()}
      </Text>
      {state.kind === 'running' ? (
        <Button size="small" variant="secondary" onPress={cancel}>
          {t('group.export.cancel')}
        </Button>
      ) : (
        <Button
          size="small"
          variant="secondary"
          iconStart={<RiDownloadLine />}
          onPress={start}
        >
          {label()}
        </Button>
      )}
    </div>
  );
}

function Progress({ progress }: { progress: ExportProgress | undefined }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const total = progress?.total;
  return (
    <span className={styles.progress}>
      <progress
        aria-label={t('group.export.label')}
        className={styles.bar}
        max={total || 1}
        value={total === undefined ? undefined : progress?.rows}
      />
      <Text variant="body-small" color="secondary">
        {progress && total !== undefined
          ? t('group.export.progress', {
              rows: progress.rows.toLocaleString(locale()),
              total: total.toLocaleString(locale()),
            })
          : t('group.export.starting')}
      </Text>
    </span>
  );
}

/** State of an export. */
type ExportState =
  | { kind: 'idle' }
  | { kind: 'running'; progress: ExportProgress | undefined }
  | { kind: 'saved'; rows: number }
  | { kind: 'canceled' }
  | { kind: 'failed'; isSessionEnded: boolean };

/** Downloads a group's members. Leaving the page cancels the download. */
function useMembersExport(options: {
  groupname: string;
  query: MembersQuery;
  hasHistory: boolean;
}) {
  const { groupname } = options;
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
        ...options,
        client,
        signal,
        onProgress: progress => setState({ kind: 'running', progress }),
      });
      saveFile({
        name: `${groupname}-members.csv`,
        type: file.type,
        content: file,
      });
      setState({ kind: 'saved', rows });
    } catch (error) {
      setState(
        signal.aborted
          ? { kind: 'canceled' }
          : { kind: 'failed', isSessionEnded: isSessionEnded(error) },
      );
    }
  }

  return { state, start, cancel: () => running.current?.abort() };
}
