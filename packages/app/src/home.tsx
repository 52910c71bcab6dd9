import { WebStorage } from '@backstage/core-app-api';
import {
  ApiBlueprint,
  coreApis,
  createFrontendModule,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { VisitsStorageApi, visitsApiRef } from '@backstage/plugin-home';
import {
  HomePageLayoutBlueprint,
  type HomePageLayoutProps,
} from '@backstage/plugin-home-react/alpha';
import { Text } from '@backstage/ui';
import styles from './home.module.css';
import { usePageTitle } from './pageTitle';
import { portalTranslationRef } from './translation';

/** Widgets of the page and their positions, in tab order. */
const POSITIONS = [
  ['home-page-widget:directory/search', styles.search],
  ['home-page-widget:directory/groups', styles.groups],
  ['home-page-widget:directory/certificates', styles.certificates],
  ['home-page-widget:directory/recent-people', styles.recentPeople],
  ['home-page-widget:directory/colleagues', styles.colleagues],
];

/**
 * The home page: the search, then the directory sections in two columns. It
 * does not show widgets from other plugins.
 */
export function HomePage({ widgets }: HomePageLayoutProps) {
  const title = useApi(coreApis.config).getString('app.title');
  const { t } = useTranslationRef(portalTranslationRef);
  usePageTitle(t('page.home'));

  return (
    <main className={styles.page}>
      <Text as="h1" variant="title-medium" className={styles.title}>
        {t('welcome', { title })}
      </Text>
      {POSITIONS.map(([id, className]) => (
        <div key={id} className={className}>
          {widgets.find(({ node }) => node.spec.id === id)?.component}
        </div>
      ))}
    </main>
  );
}

/** Path of a person page. */
const PERSON_PAGE = /^\/directory\/people\/[^/]+$/;

/**
 * Sets the layout of the home page and records visited person pages in the
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
          deps: { errorApi: coreApis.error, identityApi: coreApis.identity },
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
