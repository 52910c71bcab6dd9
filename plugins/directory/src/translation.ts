import { createTranslationRef } from '@backstage/frontend-plugin-api';
import { certificatesMessages } from './certificates/messages';
import { copyMessages } from './components/messages';
import { entityMessages } from './entity/messages';
import { groupMessages } from './group/messages';
import { groupsMessages } from './groups/messages';
import { pageMessages } from './page/messages';
import { pagingMessages } from './paging/messages';
import { peopleMessages } from './people/messages';
import { personMessages } from './person/messages';
import { searchMessages } from './search/messages';
import { statesMessages } from './states/messages';
import { timeMessages } from './time/messages';

/**
 * Every word on the directory's pages, in English; each room has its own
 * `messages.ts`.
 *
 * @public
 */
export const directoryTranslationRef = createTranslationRef({
  id: 'plugin.directory',
  messages: {
    certificates: certificatesMessages,
    copy: copyMessages,
    entity: entityMessages,
    group: groupMessages,
    groups: groupsMessages,
    page: pageMessages,
    paging: pagingMessages,
    people: peopleMessages,
    person: personMessages,
    search: searchMessages,
    states: statesMessages,
    time: timeMessages,
  },
});
