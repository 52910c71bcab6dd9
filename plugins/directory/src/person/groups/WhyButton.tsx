import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, DialogTrigger, Link, Popover, Text } from '@backstage/ui';
import { RiArrowRightLine } from '@remixicon/react';
import { DirectoryText, visibleText } from '../../components/DirectoryText';
import { readable } from '../../page/DirectoryPage';
import { groupRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import styles from './WhyButton.module.css';

/** Options of {@link WhyButton}. */
export interface WhyButtonProps {
  /** What the person is called. */
  name: string;
  groupname: string;

  /** The chain of groups from one that names the person to this one. */
  path: readonly (string | null)[];
}

/** Opens the way by which somebody comes to be in a group. */
export function WhyButton({ name, groupname, path }: WhyButtonProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(groupRouteRef);
  const question = t('person.groups.whyOf', {
    name: visibleText(name),
    group: visibleText(groupname),
  });

  return (
    <DialogTrigger>
      <Button size="small" variant="tertiary" aria-label={question}>
        {t('person.groups.why')}
      </Button>
      <Popover aria-label={question} placement="bottom end">
        <ol className={`${styles.path} ${readable}`}>
          <li className={styles.step}>
            <Text weight="bold">
              <DirectoryText value={name} />
            </Text>
          </li>
          {path.map((group, index) => (
            // A group that is not shown has no name to tell it apart.
            // eslint-disable-next-line react/no-array-index-key
            <li key={index} className={styles.step}>
              <RiArrowRightLine aria-hidden="true" className={styles.arrow} />
              {group === null ? (
                <Text color="secondary">{t('person.groups.hiddenGroup')}</Text>
              ) : (
                <Link href={href?.({ groupname: group }) ?? ''}>
                  <DirectoryText value={group} />
                </Link>
              )}
            </li>
          ))}
        </ol>
      </Popover>
    </DialogTrigger>
  );
}
