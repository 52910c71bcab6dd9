import { configApiRef } from '@backstage/frontend-plugin-api';
import { EntityCardBlueprint } from '@backstage/plugin-catalog-react/alpha';
import { directoryNameOf, readCatalogNames } from './catalogNames';

/** On users of the catalog who are in the directory. */
export const userEntityCard = EntityCardBlueprint.makeWithOverrides({
  name: 'user',
  factory(originalFactory, { apis }) {
    const names = readCatalogNames(apis.get(configApiRef)!);
    return originalFactory({
      type: 'info',
      filter: entity =>
        entity.kind === 'User' && directoryNameOf(entity, names) !== undefined,
      loader: () => import('./UserCard').then(m => <m.UserCard />),
    });
  },
});

/** On groups of the catalog that are in the directory. */
export const groupEntityCard = EntityCardBlueprint.makeWithOverrides({
  name: 'group',
  factory(originalFactory, { apis }) {
    const names = readCatalogNames(apis.get(configApiRef)!);
    return originalFactory({
      type: 'info',
      filter: entity =>
        entity.kind === 'Group' && directoryNameOf(entity, names) !== undefined,
      loader: () => import('./GroupCard').then(m => <m.GroupCard />),
    });
  },
});
