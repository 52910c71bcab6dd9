import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Text } from '@backstage/ui';
import { RiDownloadLine } from '@remixicon/react';
import { counted, directoryTranslationRef } from '../translation';
import { useMembersExport } from './export/useMembersExport';
import styles from './ExportButton.module.css';
import type { ExportProgress } from './readMembersFile';

/** Saves all members as CSV: how far it is, a way to stop it, what came of it. */
export function ExportButton({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { state, start, cancel } = useMembersExport(groupname);
  const outcome = () => {
    switch (state.kind) {
      case 'saved':
        return t('group.export.done', counted(state.rows));
      case 'canceled':
        return t('group.export.canceled');
      case 'failed':
        return t('group.export.failed');
      default:
        return '';
    }
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
          {t(
            state.kind === 'failed'
              ? 'group.export.again'
              : 'group.export.start',
          )}
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
              rows: progress.rows.toLocaleString(),
              total: total.toLocaleString(),
            })
          : t('group.export.starting')}
      </Text>
    </span>
  );
}
