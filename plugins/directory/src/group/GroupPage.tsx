import { useParams } from 'react-router-dom';
import { DirectoryPage } from '../page';

/** Its h1 is the name until the rest is there. */
export function GroupPage() {
  const { groupname } = useParams();
  return (
    <DirectoryPage room="groups" subject={groupname}>
      {null}
    </DirectoryPage>
  );
}
