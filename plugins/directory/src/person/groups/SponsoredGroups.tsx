import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import { RiStarFill } from '@remixicon/react';
import { DirectoryText } from '../../components/DirectoryText';
import { Rows } from '../../page/QueryPanel';
import { groupRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import rows from '../../page/QueryPanel.module.css';
import star from './MembershipRow.module.css';
import styles from './SponsoredGroups.module.css';

/** The groups that somebody looks after without being in. */
export function SponsoredGroups({ groups }: { groups: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(groupRouteRef);
  return (
    <section className={styles.section}>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('person.groups.sponsored')}
      </Text>
      <Rows>
        {groups.map(groupname => (
          <li key={groupname} className={rows.row}>
            <RiStarFill className={star.star} size={16} aria-hidden="true" />
            <Link href={href?.({ groupname }) ?? ''} weight="bold" standalone>
              <DirectoryText value={groupname} />
            </Link>
          </li>
        ))}
      </Rows>
    </section>
  );
}
