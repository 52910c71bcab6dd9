import { SideBySide } from '../page/DirectoryPage';
import { About } from './About';
import styles from './Group.module.css';
import { IsMember } from './IsMember';
import { Members } from './Members';
import { NestedGroups } from './NestedGroups';
import { Sponsors } from './Sponsors';
import type { GroupDetails } from './useGroup';

/** Options of {@link Group}. */
export interface GroupProps {
  group: GroupDetails;

  /** Whether the page says already that it shows what was loaded before. */
  isOld: boolean;
}

/**
 * A group: what it is stays in view at the left; at the right, who lets people
 * in, what is nested in it, and who is in.
 */
export function Group({ group, isOld }: GroupProps) {
  const { groupname } = group;
  return (
    <SideBySide
      subject={
        <>
          <About group={group} />
          <IsMember groupname={groupname} />
        </>
      }
    >
      <div className={styles.parts}>
        <Sponsors groupname={groupname} />
        <NestedGroups groupname={groupname} />
        <Members groupname={groupname} isOld={isOld} />
      </div>
    </SideBySide>
  );
}
