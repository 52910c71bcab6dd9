import { DEFAULT_NAMESPACE, type Entity } from '@backstage/catalog-model';
import type { ConfigApi } from '@backstage/frontend-plugin-api';

/** Kinds of entities that can be in the directory, too. */
export type CatalogKind = 'user' | 'group';

/** How entities of the catalog and entries of the directory find each other. */
export interface CatalogNames {
  namespace: string;
  by: 'entityName' | 'annotation';
}

/** The annotations that name an entity's entry in the directory. */
export const ANNOTATIONS: Record<CatalogKind, string> = {
  user: 'directory-gateway/username',
  group: 'directory-gateway/groupname',
};

/**
 * Reads `directory.portalUsers`, by which the server takes portal users for
 * directory users. Without it only annotations tell.
 */
export function readCatalogNames(config: ConfigApi): CatalogNames {
  const portalUsers = config.getOptionalConfig('directory.portalUsers');
  return {
    namespace: (
      portalUsers?.getOptionalString('namespace') ?? DEFAULT_NAMESPACE
    ).toLowerCase(),
    by:
      portalUsers?.getOptionalString('username') === 'entityName'
        ? 'entityName'
        : 'annotation',
  };
}

/** What the directory calls an entity; nothing for one that is not in it. */
export function directoryNameOf(
  entity: Entity,
  names: CatalogNames,
): string | undefined {
  const kind = entity.kind.toLowerCase();
  const { namespace = DEFAULT_NAMESPACE, name, annotations } = entity.metadata;
  if (
    (kind !== 'user' && kind !== 'group') ||
    namespace.toLowerCase() !== names.namespace
  ) {
    return undefined;
  }
  return names.by === 'entityName' ? name : annotations?.[ANNOTATIONS[kind]];
}
