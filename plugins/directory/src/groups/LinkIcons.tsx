import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { visibleText } from '../components/DirectoryText';
import { safeHref } from '../components/safeHref';
import { directoryTranslationRef } from '../translation';
import { GroupLinkIcon } from './GroupLinkIcon';
import { groupLinks } from './groupLinks';
import styles from './LinkIcons.module.css';
import type { ListedGroup } from './useGroups';

/** Where a group is found, as pictures that lead there. */
export function LinkIcons({ group }: { group: ListedGroup }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <span className={styles.icons}>
      {groupLinks(group).map(({ kind, text, href }) => {
        const safe = safeHref(href ?? '');
        const words = t('groups.linkOf', {
          kind: t(`groups.link.${kind}`),
          group: visibleText(group.groupname),
          text: visibleText(text),
        });
        return safe ? (
          <ButtonLink
            key={`${kind} ${text}`}
            href={safe}
            target={/^https?:/.test(safe) ? '_blank' : undefined}
            rel="noopener noreferrer nofollow"
            size="small"
            variant="tertiary"
            aria-label={words}
            className={styles.icon}
          >
            <span title={`${t(`groups.link.${kind}`)}: ${visibleText(text)}`}>
              <GroupLinkIcon kind={kind} />
            </span>
          </ButtonLink>
        ) : null;
      })}
    </span>
  );
}
