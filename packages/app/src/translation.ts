import { createTranslationRef } from '@backstage/frontend-plugin-api';

/** Texts of the navigation, in English and German. */
export const portalTranslationRef = createTranslationRef({
  id: 'portal',
  messages: {
    home: '{{title}}, home',
    menu: 'Menu',
    page: {
      catalog: 'Catalog',
      certificates: 'Certificates',
      groups: 'Groups',
      notifications: 'Notifications',
      people: 'People',
      search: 'Search',
      settings: 'Settings',
    },
  },
  translations: { de: () => import('./de') },
});
