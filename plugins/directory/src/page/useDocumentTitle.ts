import { configApiRef, useApi } from '@backstage/frontend-plugin-api';
import { useEffect } from 'react';

/** Names the page in the browser's tab and history, while it is open. */
export function useDocumentTitle(title: string) {
  const app = useApi(configApiRef).getOptionalString('app.title');

  useEffect(() => {
    const previous = document.title;
    document.title = app ? `${title} · ${app}` : title;
    return () => {
      document.title = previous;
    };
  }, [app, title]);
}
