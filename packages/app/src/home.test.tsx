import { createFrontendPlugin } from '@backstage/frontend-plugin-api';
import { renderTestApp } from '@backstage/frontend-test-utils';
import homePlugin from '@backstage/plugin-home/alpha';
import { HomePageWidgetBlueprint } from '@backstage/plugin-home-react/alpha';
import { screen } from '@testing-library/react';
import { homeModule } from './home';

/** A plugin whose widgets consist of a heading only. */
function pluginWithWidgets(pluginId: string, names: readonly string[]) {
  return createFrontendPlugin({
    pluginId,
    extensions: names.map(name =>
      HomePageWidgetBlueprint.make({
        name,
        params: {
          components: async () => ({ Content: () => <h2>{name}</h2> }),
        },
      }),
    ),
  });
}

describe('Home page', () => {
  it('shows the directory widgets, with the search first', async () => {
    renderTestApp({
      config: {
        app: {
          title: 'Portal',
        },
        backend: { baseUrl: 'http://localhost' },
      },
      features: [
        homePlugin,
        homeModule,
        pluginWithWidgets('other', ['news']),
        pluginWithWidgets('directory', [
          'colleagues',
          'recent-people',
          'certificates',
          'groups',
          'search',
        ]),
      ],
      initialRouteEntries: ['/home'],
    });

    expect(await screen.findByRole('heading', { level: 1 })).toHaveTextContent(
      'Welcome to Portal',
    );
    await screen.findByRole('heading', { name: 'colleagues' });
    expect(
      screen
        .getAllByRole('heading', { level: 2 })
        .map(heading => heading.textContent),
    ).toEqual([
      'search',
      'groups',
      'certificates',
      'recent-people',
      'colleagues',
    ]);
    expect(document.title).toBe('Home · Portal');
  });
});
