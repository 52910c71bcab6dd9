import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { useState } from 'react';
import { useReader } from '../api/useDirectoryQuery';
import { SideBySide } from '../page/DirectoryPage';
import { hidePrivateFields } from './hidePrivateFields';
import { Identity } from './Identity';
import { OwnProfile } from './OwnProfile';
import { PersonTabs } from './PersonTabs';

/**
 * Somebody: who they are stays in view at the left, what they have is in tabs
 * at the right. The reader can look at themself as others do.
 */
export function Person({ person }: { person: User }) {
  const reader = useReader();
  const [asOthers, setAsOthers] = useState(false);
  const isOwn = reader === person.username;
  const shown = asOthers ? hidePrivateFields(person) : person;

  return (
    <SideBySide
      subject={
        <>
          <Identity person={shown} isOwn={isOwn && !asOthers} />
          {isOwn && (
            <OwnProfile
              person={person}
              asOthers={asOthers}
              onAsOthers={setAsOthers}
            />
          )}
        </>
      }
    >
      <PersonTabs person={shown} />
    </SideBySide>
  );
}
