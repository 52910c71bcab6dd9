import {
  type CompoundEntityRef,
  DEFAULT_NAMESPACE,
  type Entity,
  getCompoundEntityRef,
  stringifyEntityRef,
} from '@backstage/catalog-model';
import type { ConfigApi } from '@backstage/frontend-plugin-api';
import type { catalogApiRef } from '@backstage/plugin-catalog-react';

/** Entity kinds that can be in the directory. */
export type CatalogKind = 'user' | 'group';

/** Mapping between catalog entities and directory entries. */
export interface CatalogNames {
  namespace: string;
  by: 'entityName' | 'annotation';
}

/** Annotations with the name of an entity's directory entry. */
const ANNOTATIONS: Record<CatalogKind, string> = {
  user: 'directory-gateway/username',
  group: 'directory-gateway/groupname',
};

/**
 * Reads `directory.portalUsers`, which also determines how the backend maps
 * portal users to directory users. Defaults to annotations.
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

/** Returns the directory name of an entity; `undefined` when it has none. */
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

const FIELDS = ['kind', 'metadata.namespace', 'metadata.name'];

interface FindEntityOptions {
  catalog: typeof catalogApiRef.T;
  kind: CatalogKind;
  directoryName: string;

  names: CatalogNames;
}

/** Finds the catalog entity of a user or a group; `null` when there is none. */
export async function findEntity(
  options: FindEntityOptions,
): Promise<CompoundEntityRef | null> {
  const { catalog, kind, directoryName, names } = options;
  const { namespace } = names;
  if (names.by === 'entityName') {
    const ref = stringifyEntityRef({ kind, namespace, name: directoryName });
    // A missing entity is not an error here.
    const { items } = await catalog.getEntitiesByRefs({
      entityRefs: [ref],
      fields: FIELDS,
    });
    return items[0] ? getCompoundEntityRef(items[0]) : null;
  }
  const { items } = await catalog.getEntities({
    filter: {
      kind,
      'metadata.namespace': namespace,
      [`metadata.annotations.${ANNOTATIONS[kind]}`]: directoryName,
    },
    fields: FIELDS,
    limit: 1,
  });
  return items.length > 0 ? getCompoundEntityRef(items[0]) : null;
}
