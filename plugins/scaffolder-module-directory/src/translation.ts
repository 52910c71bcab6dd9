import { createTranslationRef } from '@backstage/frontend-plugin-api';

/**
 * Messages of the fields in English and German.
 *
 * @public
 */
export const directoryPickerTranslationRef = createTranslationRef({
  id: 'scaffolder.directory',
  messages: {
    user: { label: 'User', placeholder: 'Search by username or full name' },
    group: { label: 'Group', placeholder: 'Search by name or description' },
    unavailable: 'The directory is unavailable. Try again.',
  },
  translations: { de: () => import('./de') },
});
