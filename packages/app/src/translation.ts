import { createTranslationRef } from '@backstage/frontend-plugin-api';

/** Messages of the portal itself in English and German. */
export const portalTranslationRef = createTranslationRef({
  id: 'portal',
  messages: {
    error: {
      title: 'Error in {{plugin}}',
      retry: 'Retry',
    },
    find: 'Find',
    home: '{{title}}, home',
    menu: 'Menu',
    notFound: {
      title: 'Page not found',
      description: 'This portal has no page at this address.',
      home: 'Go to the home page',
    },
    page: {
      catalog: 'Catalog',
      certificates: 'Certificates',
      groups: 'Groups',
      home: 'Home',
      notifications: 'Notifications',
      people: 'People',
      search: 'Catalog search',
      settings: 'Settings',
    },
    skip: 'Skip to content',
    welcome: 'Welcome to {{title}}',
  },
  translations: { de: () => import('./de') },
});
