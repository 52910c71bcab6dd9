import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text, ToggleButton, ToggleButtonGroup } from '@backstage/ui';
import { TextSearch } from '../../page/TextSearch';
import { ViewSwitch } from '../../people/PeopleCards';
import { counted, directoryTranslationRef } from '../../translation';
import styles from '../Members.module.css';
import {
  type AskMembers,
  MEMBERSHIPS,
  type MembersQuestion,
} from './useMembersQuestion';

/** Options of {@link MembersBar}. */
export interface MembersBarProps {
  question: MembersQuestion;
  ask: AskMembers;

  /** Whether what was typed is too short to ask. */
  isTooShort: boolean;

  /** How many members match, once that is known. */
  total: number | undefined;

  /** Moves on to the members. */
  onLeaveDown: () => void;
}

/** Which members are listed: by a text, by how they are in; and how they look. */
export function MembersBar(props: MembersBarProps) {
  const { question, ask, isTooShort, total, onLeaveDown } = props;
  const { text, membership, view } = question;
  const { t } = useTranslationRef(directoryTranslationRef);
  const isAll = !text && membership === 'all';

  return (
    <>
      <div className={styles.bar}>
        <TextSearch
          size="small"
          label={t('group.members.search')}
          placeholder={t('group.members.placeholder')}
          text={text}
          isTooShort={isTooShort}
          onSearch={next => ask({ text: next }, { replace: true })}
          onLeaveDown={onLeaveDown}
        />
        <div className={styles.choices}>
          <ToggleButtonGroup
            aria-label={t('group.members.membership')}
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[membership]}
            onSelectionChange={([key]) =>
              ask({ membership: key as MembersQuestion['membership'] })
            }
          >
            {MEMBERSHIPS.map(one => (
              <ToggleButton key={one} id={one}>
                {t(`group.members.${one}`)}
              </ToggleButton>
            ))}
          </ToggleButtonGroup>
          <ViewSwitch view={view} onChange={next => ask({ view: next })} />
        </div>
      </div>
      <div className={styles.total}>
        {total !== undefined && !isTooShort && (
          <Text role="status" variant="body-medium" color="secondary">
            {t(
              isAll ? 'group.members.total' : 'group.members.found',
              counted(total),
            )}
          </Text>
        )}
      </div>
    </>
  );
}
