import {
  appLanguageApiRef,
  AppRootElementBlueprint,
  useApi,
} from '@backstage/frontend-plugin-api';
import { useEffect } from 'react';

/**
 * Sets the language of the document to the one that the user has chosen, for
 * screen readers, hyphenation and {@link locale}. Backstage does not.
 */
function DocumentLanguage() {
  const languageApi = useApi(appLanguageApiRef);

  useEffect(() => {
    const subscription = languageApi.language$().subscribe(({ language }) => {
      document.documentElement.lang = language;
    });
    return () => subscription.unsubscribe();
  }, [languageApi]);

  return null;
}

/** Keeps the language of the document up to date. */
export const documentLanguage = AppRootElementBlueprint.make({
  name: 'language',
  params: { element: <DocumentLanguage /> },
});

/**
 * Returns the locale of dates and numbers: the language of the document, in the
 * variant of the browser's settings, such as `en-GB`.
 */
export function locale(): string {
  const language = document.documentElement.lang || 'en';
  const variant = navigator.languages.find(
    tag => tag.split('-')[0] === language,
  );
  return variant ?? language;
}
