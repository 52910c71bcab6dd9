import {
  AppRootElementBlueprint,
  createFrontendModule,
  RouterLink,
} from '@backstage/frontend-plugin-api';
import { renderTestApp } from '@backstage/frontend-test-utils';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { directoryPlugin } from './plugin';

describe('directoryPlugin', () => {
  it.each([
    ['/directory', 'People'],
    ['/directory/people', 'People'],
    ['/directory/groups', 'Groups'],
    ['/directory/certificates', 'Certificates'],
    ['/directory/certificates/request', 'Request a certificate'],
    ['/directory/certificates/REQUEST/', 'Request a certificate'],
  ])('shows %s with %s as the only h1', async (path, heading) => {
    renderTestApp({
      features: [directoryPlugin],
      initialRouteEntries: [path],
    });

    expect(await screen.findByRole('heading', { level: 1 })).toHaveTextContent(
      heading,
    );
  });

  it.each([
    '/directory/other',
    '/directory/people/alice/other',
    '/directory/groups/sysadmin/other/',
    '/directory/certificates/1/other',
    '/directory/certificates/request/other',
  ])(
    'shows the page of the portal for paths that do not exist: %s',
    async path => {
      renderTestApp({
        features: [directoryPlugin],
        initialRouteEntries: [path],
      });

      expect(await screen.findByText(/page not found/i)).toBeInTheDocument();
      expect(screen.queryByText(/alice|sysadmin/)).not.toBeInTheDocument();
    },
  );

  it('moves the focus to a page after navigation, but not to the first page', async () => {
    const request = (
      <RouterLink href="/directory/certificates/request">go</RouterLink>
    );
    const link = createFrontendModule({
      pluginId: 'app',
      extensions: [
        AppRootElementBlueprint.make({
          name: 'link',
          params: { element: request },
        }),
      ],
    });
    renderTestApp({
      features: [directoryPlugin, link],
      initialRouteEntries: ['/directory/certificates'],
    });
    await screen.findByRole('heading', { level: 1, name: 'Certificates' });
    expect(document.body).toHaveFocus();

    fireEvent.click(screen.getByRole('link', { name: 'go' }));

    await screen.findByRole('heading', { level: 1, name: /Request/ });
    await waitFor(() => expect(screen.getByRole('main')).toHaveFocus());
  });
});
