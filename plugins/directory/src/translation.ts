import { createTranslationRef } from '@backstage/frontend-plugin-api';
import {
  certificateMessages,
  certificatesMessages,
  requestMessages,
} from './certificates/messages';
import {
  copyMessages,
  linksMessages,
  pageMessages,
  paginationMessages,
  searchMessages,
  statesMessages,
  timeMessages,
} from './components/messages';
import { entityMessages } from './entity/messages';
import { groupMessages } from './group/messages';
import { groupsMessages } from './groups/messages';
import { historyMessages } from './history/messages';
import { homeMessages } from './home/messages';
import { locale } from './language';
import { paletteMessages } from './palette/messages';
import { peopleMessages } from './people/messages';
import { personMessages } from './person/messages';

/**
 * Messages of the directory pages in English and German. Each folder has its
 * own `messages.ts` and `messages.de.ts`.
 *
 * @public
 */
export const directoryTranslationRef = createTranslationRef({
  id: 'plugin.directory',
  messages: {
    certificate: certificateMessages,
    certificates: certificatesMessages,
    copy: copyMessages,
    entity: entityMessages,
    group: groupMessages,
    groups: groupsMessages,
    history: historyMessages,
    home: homeMessages,
    links: linksMessages,
    page: pageMessages,
    pagination: paginationMessages,
    palette: paletteMessages,
    people: peopleMessages,
    person: personMessages,
    request: requestMessages,
    search: searchMessages,
    states: statesMessages,
    time: timeMessages,
  },
  translations: { de: () => import('./de') },
});

/**
 * Returns the parameters of a message with a number: `count` selects the plural
 * form, `number` is formatted in the user's locale.
 */
export function formatCount(count: number): { count: number; number: string } {
  return { count, number: count.toLocaleString(locale()) };
}
