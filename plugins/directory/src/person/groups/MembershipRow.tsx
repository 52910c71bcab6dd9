import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Link, Text } from '@backstage/ui';
import type { Membership } from '@directory-gateway/backstage-plugin-directory-common';
import { RiNodeTree, RiStarFill } from '@remixicon/react';
import { DirectoryText } from '../../components/DirectoryText';
import { groupRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import rows from '../../page/QueryPanel.module.css';
import styles from './MembershipRow.module.css';
import { WhyButton } from './WhyButton';

/** Options of {@link MembershipRow}. */
export interface MembershipRowProps {
  /** What the person is called. */
  name: string;
  membership: Membership;
}

/** A group that somebody is in: how, and whether they look after it. */
export function MembershipRow({ name, membership }: MembershipRowProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(groupRouteRef);
  const { groupname, description, direct, sponsor, path } = membership;

  return (
    <li className={rows.row}>
      <div className={rows.words}>
        <Link href={href?.({ groupname }) ?? ''} weight="bold" standalone>
          <DirectoryText value={groupname} />
        </Link>
        {description && (
          <Text as="p" variant="body-small" color="secondary" truncate>
            <DirectoryText value={description} />
          </Text>
        )}
      </div>
      <div className={rows.marks}>
        {sponsor && (
          <Badge icon={<RiStarFill className={styles.star} />}>
            {t('person.groups.sponsor')}
          </Badge>
        )}
        {!direct && (
          <>
            <Badge icon={<RiNodeTree />}>{t('person.groups.inherited')}</Badge>
            <WhyButton name={name} groupname={groupname} path={path} />
          </>
        )}
      </div>
    </li>
  );
}
