import {
  createFrontendPlugin,
  PageBlueprint,
} from '@backstage/frontend-plugin-api';
import {
  RiContactsBookLine,
  RiGroupLine,
  RiShieldKeyholeLine,
} from '@remixicon/react';
import { directoryApi } from './api/directoryApi';
import {
  unsavedKeysApi,
  unsavedKeysElement,
} from './certificates/key/unsavedKeys';
import {
  groupEntityCard,
  userCertificatesEntityCard,
  userEntityCard,
} from './entity/entityCards';
import { homePageWidgets } from './home/homePageWidgets';
import { documentLanguage } from './language';
import { loadErrorWrapper } from './loadError';
import {
  CertificatesRoutes,
  DirectoryRoutes,
  GroupsRoutes,
  PeopleRoutes,
} from './pages';
import { paletteElement } from './palette/palette';
import {
  catalogEntityRouteRef,
  certificateRouteRef,
  certificatesRouteRef,
  groupRouteRef,
  groupsRouteRef,
  peopleRouteRef,
  personRouteRef,
} from './routes';

// The pages have their own headers, whose h1 is the name of the user or group.
// Their titles and icons appear in the navigation.
const peoplePage = PageBlueprint.make({
  name: 'people',
  params: {
    path: '/directory/people',
    title: 'People',
    icon: <RiContactsBookLine size={24} />,
    routeRef: peopleRouteRef,
    noHeader: true,
    loader: async () => <PeopleRoutes />,
  },
});

const groupsPage = PageBlueprint.make({
  name: 'groups',
  params: {
    path: '/directory/groups',
    title: 'Groups',
    icon: <RiGroupLine size={24} />,
    routeRef: groupsRouteRef,
    noHeader: true,
    loader: async () => <GroupsRoutes />,
  },
});

const certificatesPage = PageBlueprint.make({
  name: 'certificates',
  params: {
    path: '/directory/certificates',
    title: 'Certificates',
    icon: <RiShieldKeyholeLine size={24} />,
    routeRef: certificatesRouteRef,
    noHeader: true,
    loader: async () => <CertificatesRoutes />,
  },
});

/**
 * Redirects to the people page. Not in the navigation, because it has no route
 * ref.
 */
const rootPage = PageBlueprint.make({
  params: {
    path: '/directory',
    noHeader: true,
    loader: async () => <DirectoryRoutes />,
  },
});

/**
 * The directory pages. They require a fetch API with the user's credentials and
 * the `directory` backend plugin.
 *
 * @public
 */
export const directoryPlugin = createFrontendPlugin({
  pluginId: 'directory',
  title: 'Directory',
  icon: <RiContactsBookLine size={24} />,
  info: { packageJson: () => import('../package.json') },
  extensions: [
    directoryApi,
    documentLanguage,
    loadErrorWrapper,
    rootPage,
    peoplePage,
    groupsPage,
    certificatesPage,
    userEntityCard,
    userCertificatesEntityCard,
    groupEntityCard,
    ...homePageWidgets,
    paletteElement,
    unsavedKeysApi,
    unsavedKeysElement,
  ],
  routes: {
    people: peopleRouteRef,
    person: personRouteRef,
    groups: groupsRouteRef,
    group: groupRouteRef,
    certificates: certificatesRouteRef,
    certificate: certificateRouteRef,
  },
  externalRoutes: { catalogEntity: catalogEntityRouteRef },
});
