import { useParams } from 'react-router-dom';
import { DirectoryPage } from '../page';

/** Its h1 is the name until the rest is there. */
export function PersonPage() {
  const { username } = useParams();
  return (
    <DirectoryPage room="people" subject={username}>
      {null}
    </DirectoryPage>
  );
}
