import {
  type CompoundEntityRef,
  getCompoundEntityRef,
} from '@backstage/catalog-model';
import type { catalogApiRef } from '@backstage/plugin-catalog-react';
import {
  ANNOTATIONS,
  type CatalogKind,
  type CatalogNames,
} from './catalogNames';

/** Options of {@link findEntity}. */
export interface FindEntityOptions {
  catalog: typeof catalogApiRef.T;
  kind: CatalogKind;

  /** What the directory calls it. */
  directoryName: string;

  names: CatalogNames;
}

/** Finds the catalog's entity of a person or a group; `null` without one. */
export async function findEntity(
  options: FindEntityOptions,
): Promise<CompoundEntityRef | null> {
  const { catalog, kind, directoryName, names } = options;
  const { namespace } = names;
  if (names.by === 'entityName') {
    const ref = { kind, namespace, name: directoryName };
    const found = await catalog.getEntityByRef(ref);
    return found ? getCompoundEntityRef(found) : null;
  }
  const { items } = await catalog.getEntities({
    filter: {
      kind,
      'metadata.namespace': namespace,
      [`metadata.annotations.${ANNOTATIONS[kind]}`]: directoryName,
    },
    fields: ['kind', 'metadata.namespace', 'metadata.name'],
    limit: 1,
  });
  return items.length > 0 ? getCompoundEntityRef(items[0]) : null;
}
