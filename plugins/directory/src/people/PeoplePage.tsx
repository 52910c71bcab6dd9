import { DirectoryPage } from '../page';

/** Under construction by its own commit. */
export function PeoplePage() {
  return <DirectoryPage room="people">{null}</DirectoryPage>;
}
