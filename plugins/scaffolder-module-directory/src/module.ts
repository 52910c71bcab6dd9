import { createFrontendModule } from '@backstage/frontend-plugin-api';
import { FormFieldBlueprint } from '@backstage/plugin-scaffolder-react/alpha';

const userField = FormFieldBlueprint.make({
  name: 'directory-user-picker',
  params: { field: () => import('./fields').then(m => m.userPicker) },
});

const groupField = FormFieldBlueprint.make({
  name: 'directory-group-picker',
  params: { field: () => import('./fields').then(m => m.groupPicker) },
});

/**
 * Adds the fields `DirectoryUserPicker` and `DirectoryGroupPicker` to the
 * Scaffolder. The value is an entity reference such as `user:default/alice`,
 * with the namespace from the `namespace` option (default `default`). The
 * fields require the `directory` backend plugin.
 *
 * @public
 */
export const scaffolderModuleDirectory = createFrontendModule({
  pluginId: 'scaffolder',
  extensions: [userField, groupField],
});
