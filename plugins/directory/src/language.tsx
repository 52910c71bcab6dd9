import {
  AppRootElementBlueprint,
  coreApis,
  useApi,
} from '@backstage/frontend-plugin-api';
import { useEffect } from 'react';

/**
 * Sets the document language to the user's selected language, for screen
 * readers, hyphenation and {@link locale}. Backstage does not set it.
 */
function DocumentLanguage() {
  const languageApi = useApi(coreApis.appLanguage);

  useEffect(() => {
    const subscription = languageApi.language$().subscribe(({ language }) => {
      document.documentElement.lang = language;
    });
    return () => subscription.unsubscribe();
  }, [languageApi]);

  return null;
}

/** Keeps the document language up to date. */
export const documentLanguage = AppRootElementBlueprint.make({
  name: 'language',
  params: { element: <DocumentLanguage /> },
});

/**
 * Returns the locale for dates and numbers: the document language, in the
 * variant preferred by the browser, such as `en-GB`.
 */
export function locale(): string {
  const language = document.documentElement.lang || 'en';
  const variant = navigator.languages.find(
    tag => tag.split('-')[0] === language,
  );
  return variant ?? language;
}
