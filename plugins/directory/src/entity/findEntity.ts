import {
  type CompoundEntityRef,
  getCompoundEntityRef,
  stringifyEntityRef,
} from '@backstage/catalog-model';
import type { catalogApiRef } from '@backstage/plugin-catalog-react';
import {
  ANNOTATIONS,
  type CatalogKind,
  type CatalogNames,
} from './catalogNames';

const FIELDS = ['kind', 'metadata.namespace', 'metadata.name'];

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
    const ref = stringifyEntityRef({ kind, namespace, name: directoryName });
    // One that is not there is an answer here, not an error.
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
