import { entityNameOf } from '@directory-gateway/backstage-plugin-directory-common';
import type { Realm } from '@directory-gateway/realm';
import type { Gateway } from '../gateway/startGateway';
import { dumpEntries } from '../naive/DumpedEntry';
import { NaiveDirectory } from '../naive/NaiveDirectory';

/** A user or group in the response of the catalog. */
export interface CatalogEntity {
  readonly kind: 'User' | 'Group';
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

/** Names of users with their groups, and names of groups. */
interface CatalogNames {
  readonly users: readonly {
    readonly name: string;
    readonly memberOf: readonly string[];
  }[];
  readonly groups: readonly string[];
}

/** Reads all users and groups of a portal's catalog. */
export async function catalogEntities(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  serviceToken: string,
): Promise<readonly CatalogEntity[]> {
  const response = await fetch(
    `${baseUrl}/api/catalog/entities?filter=kind=user&filter=kind=group`,
    { headers: { Authorization: `Bearer ${serviceToken}` } },
  );
  if (!response.ok) {
    throw new Error(`The catalog responds with status ${response.status}`);
  }
  return (await response.json()) as CatalogEntity[];
}

/** What entities have of the directory. */
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

/** What the directory has, as {@link namesOf} returns it. */
export async function directoryNames(realm: Realm): Promise<CatalogNames> {
  const { users, groups } = new NaiveDirectory(await dumpEntries(realm), 'fas');
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

function byName(a: { name: string }, b: { name: string }) {
  return a.name < b.name ? -1 : 1;
}
