import { WebStorage } from '@backstage/core-app-api';
import {
  ApiBlueprint,
  configApiRef,
  createFrontendModule,
  errorApiRef,
  identityApiRef,
  useApi,
} from '@backstage/frontend-plugin-api';
import { VisitsStorageApi, visitsApiRef } from '@backstage/plugin-home';
import {
  HomePageLayoutBlueprint,
  type HomePageLayoutProps,
} from '@backstage/plugin-home-react/alpha';
import { Text } from '@backstage/ui';
import { useEffect } from 'react';
import styles from './home.module.css';

/** Widgets of the directory and their positions, in the order of the keyboard. */
const POSITIONS: Record<string, string> = {
  'home-page-widget:directory/search': styles.search,
  'home-page-widget:directory/groups': styles.groups,
  'home-page-widget:directory/certificates': styles.certificates,
  'home-page-widget:directory/recent-people': styles.recentPeople,
  'home-page-widget:directory/colleagues': styles.wide,
};

/**
 * The home page: the search first, then the sections of the directory in two
 * columns, and widgets of other plugins below.
 */
export function HomePage({ widgets }: HomePageLayoutProps) {
  const title = useApi(configApiRef).getString('app.title');
  useEffect(() => {
    const previous = document.title;
    document.title = `Home · ${title}`;
    return () => {
      document.title = previous;
    };
  }, [title]);

  const ids = Object.keys(POSITIONS);
  const rank = ({ node }: HomePageLayoutProps['widgets'][number]) =>
    ids.includes(node.spec.id) ? ids.indexOf(node.spec.id) : ids.length;
  return (
    <main className={styles.page}>
      <Text as="h1" variant="title-medium" className={styles.title}>
        Welcome to {title}
      </Text>
      {[...widgets]
        .sort((a, b) => rank(a) - rank(b))
        .map(({ node: { spec }, component }) => (
          <div key={spec.id} className={POSITIONS[spec.id] ?? styles.wide}>
            {component}
          </div>
        ))}
    </main>
  );
}

/** Address of the page of a person. */
const PERSON_PAGE = /^\/directory\/people\/[^/]+$/;

/**
 * Arranges the home page, and records the opened pages of people: in the
 * browser, so that the server does not store them.
 */
export const homeModule = createFrontendModule({
  pluginId: 'home',
  extensions: [
    HomePageLayoutBlueprint.make({
      params: { loader: async () => HomePage },
    }),
    ApiBlueprint.make({
      name: 'visits',
      params: defineParams =>
        defineParams({
          api: visitsApiRef,
          deps: { errorApi: errorApiRef, identityApi: identityApiRef },
          factory: ({ errorApi, identityApi }) =>
            VisitsStorageApi.create({
              storageApi: WebStorage.create({ errorApi }),
              identityApi,
              limit: 20,
              canSave: ({ pathname }) => PERSON_PAGE.test(pathname),
            }),
        }),
    }),
  ],
});
