import {
  coreExtensionData,
  createExtension,
  createExtensionInput,
  createFrontendModule,
} from '@backstage/frontend-plugin-api';
import { renderTestApp } from '@backstage/frontend-test-utils';
import { directoryPlugin } from '../plugin';

const element = [coreExtensionData.reactElement] as const;

/**
 * Replaces the sidebar of the test app with the page only. Each query by role
 * would match the elements against the hundreds of style rules of the sidebar.
 */
export const pageWithoutSidebar = createFrontendModule({
  pluginId: 'app',
  extensions: [
    createExtension({
      name: 'layout',
      attachTo: { id: 'app/root', input: 'children' },
      inputs: {
        nav: createExtensionInput([...element], { singleton: true }),
        content: createExtensionInput([...element], { singleton: true }),
      },
      output: [...element],
      factory: ({ inputs }) => inputs.content,
    }),
  ],
});

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
    features: [directoryPlugin, pageWithoutSidebar],
    apis,
    initialRouteEntries: [path],
  });
}
