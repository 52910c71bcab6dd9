import {
  createFrontendPlugin,
  createRouteRef,
  PageBlueprint,
} from '@backstage/frontend-plugin-api';
import { renderTestApp } from '@backstage/frontend-test-utils';
import { screen } from '@testing-library/react';
import { errorDisplayModule } from './errorDisplay';

/** Opens a page of another plugin that fails. */
function openPage(error: Error) {
  renderTestApp({
    features: [
      errorDisplayModule,
      createFrontendPlugin({
        pluginId: 'test',
        extensions: [
          PageBlueprint.make({
            params: {
              path: '/test',
              routeRef: createRouteRef(),
              loader: () => Promise.reject(error),
            },
          }),
        ],
      }),
    ],
    initialRouteEntries: ['/test'],
  });
}

const button = (name: string) => screen.findByRole('button', { name });

describe('error display', () => {
  beforeEach(() => {
    jest.spyOn(console, 'error').mockImplementation();
  });

  afterEach(() => jest.restoreAllMocks());

  it('offers to reload an outdated portal', async () => {
    const error = new Error('Loading chunk 1 failed.');
    openPage(Object.assign(error, { name: 'ChunkLoadError' }));
    expect(await button('Reload')).toBeEnabled();
    expect(screen.getByRole('alert')).toHaveTextContent(
      /^This content could not be loaded/,
    );
  });

  it('shows other errors with a retry button', async () => {
    openPage(new Error('A fault in the page'));
    expect(await button('Retry')).toBeEnabled();
    expect(screen.getAllByText(/A fault in the page/).length).toBeGreaterThan(
      0,
    );
  });
});
