import type {
  AuthService,
  BackstageUserPrincipal,
  LoggerService,
} from '@backstage/backend-plugin-api';
import {
  KubernetesValidatorFunctions,
  parseEntityRef,
  stringifyEntityRef,
  type Entity,
} from '@backstage/catalog-model';
import type { CatalogService } from '@backstage/plugin-catalog-node';
import type { TrustedLocations } from '@directory-gateway/backstage-plugin-directory-node';
import { LRUCache } from 'lru-cache';
import { AmbiguousPortalUserError } from '@directory-gateway/directory-core';

/**
 * The annotation of a catalog user that names its directory user.
 *
 * @public
 */
export const USERNAME_ANNOTATION = 'directory-gateway/username';

/** Maximum age of cached catalog entities, in milliseconds. */
const MAX_AGE_MS = 4000;

/** Mapping of portal users to directory users: `directory.portalUsers`. */
export interface PortalUsersConfig {
  /** Namespace of the portal users, in lower case. */
  readonly namespace: string;
  /** Source of the directory user name. */
  readonly username: 'entityName' | 'annotation';
}

/** The username annotation of a portal user. */
interface Annotation {
  /** `undefined` without a trusted annotation. */
  readonly username: string | undefined;
  /** Whether other trusted users have the same annotation. */
  readonly isShared: boolean;
}

/** Options of {@link PortalUserNames}. */
export interface PortalUserNamesOptions {
  /** `undefined` when portal users have no directory identity. */
  readonly config: PortalUsersConfig | undefined;
  readonly trustedLocations: TrustedLocations;
  readonly auth: AuthService;
  readonly catalog: CatalogService;
  readonly logger: LoggerService;
}

/**
 * Maps portal users to directory users as `directory.portalUsers` configures:
 * by entity name, or by an annotation on entities from
 * `directory.trustedLocations`. Names are never transformed.
 */
export class PortalUserNames {
  readonly #options: PortalUserNamesOptions;
  /** By entity reference. */
  readonly #annotations = new LRUCache<string, Annotation>({
    max: 10_000,
    ttl: MAX_AGE_MS,
    fetchMethod: userEntityRef => this.#readAnnotation(userEntityRef),
  });

  constructor(options: PortalUserNamesOptions) {
    this.#options = options;
  }

  /** Whether portal users are mapped to directory users. */
  get isConfigured(): boolean {
    return this.#options.config !== undefined;
  }

  /**
   * Returns the directory user name of a portal user, or `undefined` when the
   * user is not mapped. Annotations may be up to 4 seconds old.
   *
   * @throws AmbiguousPortalUserError when several entities have the annotation
   */
  async usernameOf(user: BackstageUserPrincipal): Promise<string | undefined> {
    const { config } = this.#options;
    const { kind, namespace, name } = parseEntityRef(user.userEntityRef);
    if (
      !config ||
      kind.toLowerCase() !== 'user' ||
      namespace.toLowerCase() !== config.namespace
    ) {
      return undefined;
    }
    if (config.username === 'entityName') {
      return name;
    }
    const { username, isShared } = await this.#annotations.forceFetch(
      user.userEntityRef,
    );
    if (isShared) {
      throw new AmbiguousPortalUserError(
        `Several catalog users have the same annotation as ${user.userEntityRef}`,
      );
    }
    return username;
  }

  async #readAnnotation(userEntityRef: string): Promise<Annotation> {
    const { auth, catalog } = this.#options;
    const entity = await catalog.getEntityByRef(userEntityRef, {
      credentials: await auth.getOwnServiceCredentials(),
    });
    const username = entity?.metadata.annotations?.[USERNAME_ANNOTATION];
    if (username === undefined || !this.#isTrusted(entity)) {
      return { username: undefined, isShared: false };
    }
    const refs = await this.#annotatedRefs(username);
    return { username, isShared: refs.length > 1 };
  }

  /**
   * Returns the portal users that are mapped to a directory user, as entity
   * references. Empty when the user name cannot be an entity's name, or when
   * several entities have it as their annotation.
   */
  async entityRefsOf(username: string): Promise<readonly string[]> {
    const { config } = this.#options;
    if (!config) {
      return [];
    }
    if (config.username === 'entityName') {
      const { namespace } = config;
      return KubernetesValidatorFunctions.isValidObjectName(username)
        ? [stringifyEntityRef({ kind: 'User', namespace, name: username })]
        : [];
    }
    const refs = await this.#annotatedRefs(username);
    return refs.length > 1 ? [] : refs;
  }

  /** References of the users with a trusted annotation of a user name. */
  async #annotatedRefs(username: string): Promise<readonly string[]> {
    const { auth, catalog, config, logger } = this.#options;
    const { items } = await catalog.getEntities(
      {
        filter: {
          kind: 'User',
          'metadata.namespace': config!.namespace,
          [`metadata.annotations.${USERNAME_ANNOTATION}`]: username,
        },
        fields: [
          'kind',
          'metadata.namespace',
          'metadata.name',
          'metadata.annotations',
        ],
      },
      { credentials: await auth.getOwnServiceCredentials() },
    );
    const refs = items
      .filter(entity => this.#isTrusted(entity))
      .map(entity => stringifyEntityRef(entity));
    if (refs.length > 1) {
      logger.warn(
        `The users ${refs.join(
          ', ',
        )} have the same annotation ${USERNAME_ANNOTATION}: none of them is mapped to a directory user`,
      );
    }
    return refs;
  }

  #isTrusted(entity: Entity | undefined): entity is Entity {
    const { trustedLocations } = this.#options;
    return entity !== undefined && trustedLocations.includes(entity);
  }
}
