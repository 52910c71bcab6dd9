import {
  createFrontendPlugin,
  createRouteRef,
  PageBlueprint,
} from '@backstage/frontend-plugin-api';
import { renderTestApp } from '@backstage/frontend-test-utils';
import notificationsPlugin from '@backstage/plugin-notifications/alpha';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { navigationModule } from './navigation';

function pluginWithPage(options: {
  pluginId: string;
  name?: string;
  title: string;
  path?: string;
}) {
  const { pluginId, name, title, path = `/${name ?? pluginId}` } = options;
  return createFrontendPlugin({
    pluginId,
    extensions: [
      PageBlueprint.make({
        name,
        params: {
          title,
          icon: <span />,
          path,
          routeRef: createRouteRef(),
          loader: async () => <h1>{title}</h1>,
        },
      }),
    ],
  });
}

describe('Navigation', () => {
  it('lists home and the directory first and the settings last', async () => {
    renderTestApp({
      config: {
        app: { title: 'Directory gateway' },
        // No server listens on this port.
        backend: { baseUrl: 'http://localhost' },
      },
      features: [
        navigationModule,
        pluginWithPage({ pluginId: 'user-settings', title: 'Settings' }),
        pluginWithPage({ pluginId: 'search', title: 'Search' }),
        pluginWithPage({ pluginId: 'apis', title: 'APIs' }),
        pluginWithPage({ pluginId: 'catalog', title: 'Catalog' }),
        pluginWithPage({
          pluginId: 'directory',
          name: 'people',
          title: 'People',
        }),
        pluginWithPage({ pluginId: 'home', title: 'Home', path: '/' }),
        notificationsPlugin,
      ],
    });

    const sidebar = await screen.findByRole('navigation', {
      name: 'sidebar nav',
    });
    const links = within(sidebar).getAllByRole('link');

    expect(
      links.map(link => [
        link.getAttribute('aria-label'),
        link.getAttribute('href'),
      ]),
    ).toEqual([
      ['Directory gateway, home', '/'],
      ['Home', '/'],
      ['People', '/people'],
      ['Catalog', '/catalog'],
      ['APIs', '/apis'],
      ['Catalog search', '/search'],
      ['Notifications', '/notifications'],
      ['Settings', '/user-settings'],
    ]);
  });

  it('sets the document title and skips to the content', async () => {
    renderTestApp({
      config: {
        app: { title: 'Directory gateway' },
        backend: { baseUrl: 'http://localhost' },
      },
      features: [
        navigationModule,
        pluginWithPage({ pluginId: 'people', title: 'People' }),
      ],
      initialRouteEntries: ['/people'],
    });

    const headings = () => screen.findAllByRole('heading', { level: 1 });
    await headings();
    expect(document.title).toBe('People · Directory gateway');
    await userEvent.click(
      screen.getByRole('button', { name: 'Skip to content' }),
    );
    expect(await headings()).toContain(document.activeElement);
  });
});
