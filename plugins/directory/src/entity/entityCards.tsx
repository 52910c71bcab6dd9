import type { Entity } from '@backstage/catalog-model';
import { configApiRef } from '@backstage/frontend-plugin-api';
import { EntityCardBlueprint } from '@backstage/plugin-catalog-react/alpha';
import {
  type CatalogNames,
  directoryNameOf,
  readCatalogNames,
} from './catalogNames';

function isOfDirectory(
  entity: Entity,
  kind: 'User' | 'Group',
  names: CatalogNames,
): boolean {
  return entity.kind === kind && directoryNameOf(entity, names) !== undefined;
}

/** Card of a catalog user that is in the directory. */
export const userEntityCard = EntityCardBlueprint.makeWithOverrides({
  name: 'user',
  factory(originalFactory, { apis }) {
    const names = readCatalogNames(apis.get(configApiRef)!);
    return originalFactory({
      type: 'info',
      filter: entity => isOfDirectory(entity, 'User', names),
      loader: () => import('./UserCard').then(m => <m.UserCard />),
    });
  },
});

/** Card with the certificates of a catalog user that is in the directory. */
export const userCertificatesEntityCard = EntityCardBlueprint.makeWithOverrides(
  {
    name: 'certificates',
    factory(originalFactory, { apis }) {
      const names = readCatalogNames(apis.get(configApiRef)!);
      return originalFactory({
        type: 'info',
        filter: entity => isOfDirectory(entity, 'User', names),
        loader: () =>
          import('./CertificatesCard').then(m => <m.CertificatesCard />),
      });
    },
  },
);

/** Card of a catalog group that is in the directory. */
export const groupEntityCard = EntityCardBlueprint.makeWithOverrides({
  name: 'group',
  factory(originalFactory, { apis }) {
    const names = readCatalogNames(apis.get(configApiRef)!);
    return originalFactory({
      type: 'info',
      filter: entity => isOfDirectory(entity, 'Group', names),
      loader: () => import('./GroupCard').then(m => <m.GroupCard />),
    });
  },
});
