import type { AuthService, LoggerService } from '@backstage/backend-plugin-api';
import {
  ANNOTATION_LOCATION,
  DEFAULT_NAMESPACE,
  stringifyEntityRef,
  type Entity,
} from '@backstage/catalog-model';
import { ConflictError } from '@backstage/errors';
import type { AuthResolverContext } from '@backstage/plugin-auth-node';
import type { CatalogService } from '@backstage/plugin-catalog-node';
import { DIRECTORY_ENTITY_LOCATION } from '@directory-gateway/backstage-plugin-directory-common';
import type { TrustedLocations } from '@directory-gateway/backstage-plugin-directory-node';

/** Fields with the reference and the location of an entity. */
const ENTITY_FIELDS = [
  'kind',
  'metadata.namespace',
  'metadata.name',
  'metadata.annotations',
];

/** Fields of a user, including the groups. */
const USER_FIELDS = [...ENTITY_FIELDS, 'relations'];

/** Maximum number of groups in one catalog request. */
const GROUPS_PER_REQUEST = 100;

interface CatalogUsersOptions {
  readonly auth: AuthService;
  readonly catalog: CatalogService;
  readonly logger: LoggerService;
  readonly trustedLocations: TrustedLocations;
}

/**
 * Reads users and their groups from the catalog. Ignores entities that are not
 * from `directory.trustedLocations`.
 */
export class CatalogUsers {
  readonly #options: CatalogUsersOptions;

  constructor(options: CatalogUsersOptions) {
    this.#options = options;
  }

  /**
   * Whether trusted locations are configured. Without them, no user is found.
   */
  get hasTrustedLocations(): boolean {
    return !this.#options.trustedLocations.isEmpty;
  }

  /**
   * Returns the trusted user with a name; `undefined` if there is none.
   *
   * @param query - `namespace` defaults to `default`
   */
  async findByName(query: {
    readonly namespace?: string;
    readonly name: string;
  }): Promise<Entity | undefined> {
    if (!this.hasTrustedLocations) {
      return undefined;
    }
    const entity = await this.#options.catalog.getEntityByRef(userRef(query), {
      credentials: await this.#options.auth.getOwnServiceCredentials(),
    });
    return entity && this.#options.trustedLocations.includes(entity)
      ? entity
      : undefined;
  }

  /**
   * Returns the trusted user with exactly this annotation; `undefined` if there
   * is none.
   *
   * @throws ConflictError when several trusted users have it
   */
  async findByAnnotation(
    annotation: string,
    value: string,
  ): Promise<Entity | undefined> {
    const { items } = await this.#options.catalog.getEntities(
      {
        filter: { kind: 'User', [`metadata.annotations.${annotation}`]: value },
        fields: USER_FIELDS,
      },
      { credentials: await this.#options.auth.getOwnServiceCredentials() },
    );
    // The catalog is case-insensitive; Kerberos is not.
    const matching = items.filter(
      ({ metadata }) => metadata.annotations?.[annotation] === value,
    );
    const [user, ...others] = matching.filter(entity =>
      this.#options.trustedLocations.includes(entity),
    );
    const untrusted = matching.length - others.length - (user ? 1 : 0);
    if (untrusted > 0) {
      this.#options.logger.warn(
        `Ignored the annotation ${annotation} of ${untrusted} users from locations that directory.trustedLocations does not list`,
      );
    }
    if (others.length > 0) {
      throw new ConflictError('Several catalog users have the same principal');
    }
    return user;
  }

  /**
   * Issues a portal token for a user, with the directory groups and the groups
   * of the user's entity. Omits catalog groups that do not come from a trusted
   * location, because they can name their own members, and catalog groups that
   * come from the directory, because the catalog may be outdated.
   *
   * @param options - `groupRefs`: the groups in the directory; `entity`: the
   *   user's trusted entity, if there is one
   */
  async issueToken(options: {
    readonly user: { readonly namespace?: string; readonly name: string };
    readonly groupRefs: readonly string[];
    readonly entity: Entity | undefined;
    readonly context: AuthResolverContext;
  }) {
    const { user, groupRefs, entity, context } = options;
    const sub = userRef(user);
    const { ownershipEntityRefs } = entity
      ? await context.resolveOwnershipEntityRefs(entity)
      : { ownershipEntityRefs: [] };
    const known = new Set([sub, ...groupRefs]);
    const trusted = await this.#trustedRefs(
      ownershipEntityRefs.filter(ref => !known.has(ref)),
    );
    return context.issueToken({
      claims: { sub, ent: [...known, ...trusted] },
    });
  }

  async #trustedRefs(refs: readonly string[]): Promise<readonly string[]> {
    const trusted: string[] = [];
    for (let start = 0; start < refs.length; start += GROUPS_PER_REQUEST) {
      const entityRefs = refs.slice(start, start + GROUPS_PER_REQUEST);
      const { items } = await this.#options.catalog.getEntitiesByRefs(
        { entityRefs, fields: ENTITY_FIELDS },
        { credentials: await this.#options.auth.getOwnServiceCredentials() },
      );
      trusted.push(
        ...entityRefs.filter((_ref, index) => {
          const entity = items[index];
          return (
            entity &&
            entity.metadata.annotations?.[ANNOTATION_LOCATION] !==
              DIRECTORY_ENTITY_LOCATION &&
            this.#options.trustedLocations.includes(entity)
          );
        }),
      );
    }
    return trusted;
  }
}

function userRef(user: {
  readonly namespace?: string;
  readonly name: string;
}): string {
  const { namespace = DEFAULT_NAMESPACE, name } = user;
  return stringifyEntityRef({ kind: 'User', namespace, name });
}
