import { stringifyEntityRef } from '@backstage/catalog-model';
import { entityNameOf } from '@directory-gateway/backstage-plugin-directory-common';
import type { Realm } from '@directory-gateway/realm';
import {
  dumpEntries,
  NaiveDirectory,
} from '@directory-gateway/directory-core/testUtils';
import type { Gateway } from '../gateway/startGateway';

/** An entity in the response of the catalog. */
export interface CatalogEntity {
  readonly kind: string;
  readonly metadata: {
    readonly uid: string;
    readonly etag: string;
    readonly name: string;
    readonly description?: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly memberOf?: readonly string[];
    readonly children?: readonly string[];
    readonly profile?: { readonly displayName?: string };
  };
  readonly relations?: readonly {
    readonly type: string;
    readonly targetRef: string;
  }[];
}

/** Names of users, with their groups, and names of groups. */
interface CatalogNames {
  readonly users: readonly {
    readonly name: string;
    readonly memberOf: readonly string[];
  }[];
  readonly groups: readonly string[];
}

/** Reads all users and groups, or other kinds, of a portal's catalog. */
export async function catalogEntities(
  gateway: Pick<Gateway, 'baseUrl'>,
  serviceToken: string,
  kinds: readonly string[] = ['user', 'group'],
): Promise<readonly CatalogEntity[]> {
  const filters = kinds.map(kind => `filter=kind=${kind}`).join('&');
  const entities = await read(gateway, serviceToken, `?${filters}`);
  return entities as CatalogEntity[];
}

/** Reads an entity of a portal's catalog; `undefined` if it does not exist. */
export async function catalogEntity(
  gateway: Pick<Gateway, 'baseUrl'>,
  serviceToken: string,
  kind: string,
  name: string,
): Promise<CatalogEntity | undefined> {
  const path = `/by-name/${kind.toLowerCase()}/default/${name}`;
  return (await read(gateway, serviceToken, path)) as CatalogEntity | undefined;
}

async function read(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  serviceToken: string,
  path: string,
): Promise<unknown> {
  const response = await fetch(`${baseUrl}/api/catalog/entities${path}`, {
    headers: { Authorization: `Bearer ${serviceToken}` },
  });
  if (response.status === 404) {
    return undefined;
  }
  if (!response.ok) {
    throw new Error(`The catalog responds with status ${response.status}`);
  }
  return response.json();
}

/** Entities by reference. */
export type Entities = ReadonlyMap<string, CatalogEntity>;

/** Reads all users, groups and components of a portal's catalog. */
export async function entitiesByRef(
  gateway: Pick<Gateway, 'baseUrl'>,
  serviceToken: string,
): Promise<Entities> {
  const kinds = ['user', 'group', 'component'];
  const all = await catalogEntities(gateway, serviceToken, kinds);
  return new Map(
    all.map(entity => {
      const { kind, metadata } = entity;
      return [stringifyEntityRef({ kind, name: metadata.name }), entity];
    }),
  );
}

/** Returns the references to which an entity has relations of a type. */
export function targetsOf(
  entity: CatalogEntity | undefined,
  type: string,
): readonly string[] {
  return (entity?.relations ?? [])
    .filter(relation => relation.type === type)
    .map(({ targetRef }) => targetRef);
}

/** Returns the names that entities have from the directory. */
export function namesOf(entities: readonly CatalogEntity[]): CatalogNames {
  return {
    users: entities
      .filter(({ kind }) => kind === 'User')
      .map(({ metadata, spec }) => ({
        name: metadata.annotations['directory-gateway/username'],
        memberOf: [...spec.memberOf!],
      }))
      .sort(byName),
    groups: entities
      .filter(({ kind }) => kind === 'Group')
      .map(
        ({ metadata }) => metadata.annotations['directory-gateway/groupname'],
      )
      .sort(),
  };
}

/** Returns the names in the directory in the form of {@link namesOf}. */
export async function directoryNames(
  realm: Realm,
  schema: 'fas' | 'freeipa' = 'fas',
): Promise<CatalogNames> {
  const dump = await dumpEntries(realm);
  const { users, groups } = new NaiveDirectory(dump, schema);
  return {
    users: users
      .map(user => {
        const memberOf = groups
          .filter(group => group.links('member').includes(user.key))
          .map(group => entityNameOf(group.text('cn')!));
        return {
          name: user.text('uid')!,
          memberOf:
            user.text('nsAccountLock') === 'TRUE' ? [] : memberOf.sort(),
        };
      })
      .sort(byName),
    groups: groups.map(group => group.text('cn')!).sort(),
  };
}

/** Returns the references of the entities of {@link directoryNames}. */
export async function directoryRefs(
  realm: Realm,
  schema: 'fas' | 'freeipa',
): Promise<readonly string[]> {
  const { users, groups } = await directoryNames(realm, schema);
  const refOf = (kind: string, name: string) =>
    stringifyEntityRef({ kind, name: entityNameOf(name) });
  return [
    ...users.map(({ name }) => refOf('User', name)),
    ...groups.map(name => refOf('Group', name)),
  ];
}

function byName(a: { name: string }, b: { name: string }) {
  return a.name < b.name ? -1 : 1;
}
