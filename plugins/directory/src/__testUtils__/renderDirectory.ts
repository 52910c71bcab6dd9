import { renderTestApp } from '@backstage/frontend-test-utils';
import { directoryPlugin } from '../plugin';

/** Renders a page of the plugin in a test app with the real client. */
export function renderDirectory(
  path: string,
  config: Record<string, string> = {},
  apis: NonNullable<Parameters<typeof renderTestApp>[0]>['apis'] = [],
) {
  return renderTestApp({
    config: {
      app: { title: 'Portal', baseUrl: 'http://localhost' },
      backend: { baseUrl: 'http://localhost:7007' },
      ...(Object.keys(config).length && { directory: { pages: config } }),
    },
    features: [directoryPlugin],
    apis,
    initialRouteEntries: [path],
  });
}
