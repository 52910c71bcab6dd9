import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge } from '@backstage/ui';
import { RiEyeOffLine, RiLockLine } from '@remixicon/react';
import { directoryTranslationRef } from '../translation';
import styles from './PersonBadges.module.css';
import type { FoundPerson } from './searchFields';

/** Says that an account is locked, or a profile private. */
export function PersonBadges({
  person,
}: {
  person: Pick<FoundPerson, 'is_private' | 'locked'>;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  if (!person.locked && !person.is_private) {
    return null;
  }
  return (
    <span className={styles.badges}>
      {person.locked && (
        <Badge icon={<RiLockLine />}>{t('people.locked')}</Badge>
      )}
      {person.is_private && (
        <Badge icon={<RiEyeOffLine />}>{t('people.private')}</Badge>
      )}
    </span>
  );
}
