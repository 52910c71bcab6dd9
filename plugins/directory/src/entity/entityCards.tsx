import { coreApis } from '@backstage/frontend-plugin-api';
import { EntityCardBlueprint } from '@backstage/plugin-catalog-react/alpha';
import type { JSX } from 'react';
import { directoryNameOf, readCatalogNames } from './catalogNames';

/** Returns a card for catalog entities that are in the directory. */
function createCard<Name extends string>(options: {
  name: Name;
  kind: 'User' | 'Group';
  loader: () => Promise<JSX.Element>;
}) {
  const { name, kind, loader } = options;
  return EntityCardBlueprint.makeWithOverrides({
    name,
    factory(originalFactory, { apis }) {
      const names = readCatalogNames(apis.get(coreApis.config)!);
      return originalFactory({
        type: 'info',
        filter: entity =>
          entity.kind === kind && directoryNameOf(entity, names) !== undefined,
        loader,
      });
    },
  });
}

export const userEntityCard = createCard({
  name: 'user',
  kind: 'User',
  loader: () => import('./UserCard').then(m => <m.UserCard />),
});

export const userCertificatesEntityCard = createCard({
  name: 'certificates',
  kind: 'User',
  loader: () => import('./CertificatesCard').then(m => <m.CertificatesCard />),
});

export const groupEntityCard = createCard({
  name: 'group',
  kind: 'Group',
  loader: () => import('./GroupCard').then(m => <m.GroupCard />),
});
