import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Card, Skeleton } from '@backstage/ui';
import { SideBySide } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import identity from './Identity.module.css';

/** The shape of a person, before they are there. */
export function PersonSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <SideBySide
      loadingLabel={t('states.loading')}
      subject={
        <Card className={identity.card}>
          <Skeleton width={88} height={88} rounded />
          <Skeleton width="70%" height={28} />
          <Skeleton width="45%" height={18} />
          <Skeleton width="60%" height={18} />
          <Skeleton width="100%" height={180} />
        </Card>
      }
    >
      <Skeleton width="60%" height={36} />
      <Skeleton width="100%" height={360} style={{ marginTop: 16 }} />
    </SideBySide>
  );
}
