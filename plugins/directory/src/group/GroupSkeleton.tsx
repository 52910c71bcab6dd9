import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Card, Skeleton } from '@backstage/ui';
import { SideBySide } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import about from './About.module.css';
import styles from './Group.module.css';

/** The shape of a group, before it is there. */
export function GroupSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <SideBySide
      loadingLabel={t('states.loading')}
      subject={
        <>
          <Card className={about.card}>
            <Skeleton width="85%" height={20} />
            <Skeleton width="60%" height={20} />
            <Skeleton width="100%" height={150} />
          </Card>
          <Skeleton width="100%" height={140} />
        </>
      }
    >
      <div className={styles.parts}>
        <Skeleton width="100%" height={120} />
        <Skeleton width="100%" height={480} />
      </div>
    </SideBySide>
  );
}
