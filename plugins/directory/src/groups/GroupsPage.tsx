import { DirectoryPage } from '../page';

/** Under construction by its own commit. */
export function GroupsPage() {
  return <DirectoryPage room="groups">{null}</DirectoryPage>;
}
