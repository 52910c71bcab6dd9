import { certificatesGerman } from './certificates/messages.de';
import { componentsGerman } from './components/messages.de';
import { entityGerman } from './entity/messages.de';
import { groupGerman } from './group/messages.de';
import { groupsGerman } from './groups/messages.de';
import { historyGerman } from './history/messages.de';
import { homeGerman } from './home/messages.de';
import { paletteGerman } from './palette/messages.de';
import { peopleGerman } from './people/messages.de';
import { personGerman } from './person/messages.de';

/** German messages of the directory pages. */
export default {
  ...certificatesGerman,
  ...componentsGerman,
  ...entityGerman,
  ...groupGerman,
  ...groupsGerman,
  ...historyGerman,
  ...homeGerman,
  ...paletteGerman,
  ...peopleGerman,
  ...personGerman,
};
