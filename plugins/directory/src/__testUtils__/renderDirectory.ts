import { renderTestApp } from '@backstage/frontend-test-utils';
import { directoryPlugin } from '../plugin';

/** Opens a page of the plugin in a portal, with its real client. */
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
