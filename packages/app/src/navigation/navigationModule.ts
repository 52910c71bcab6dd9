import { createFrontendModule } from '@backstage/frontend-plugin-api';
import { NavContentBlueprint } from '@backstage/plugin-app-react';
import { Navigation } from '../navigation';

/** Replaces the app's default navigation with the portal's own. */
export const navigationModule = createFrontendModule({
  pluginId: 'app',
  extensions: [NavContentBlueprint.make({ params: { component: Navigation } })],
});
