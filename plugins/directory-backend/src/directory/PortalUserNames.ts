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
import { UnauthorizedError } from '../http/response/apiErrors';

/** The annotation of a catalog user that names its directory user. */
export const USERNAME_ANNOTATION = 'directory-gateway/username';

/** Maximum age of an answer of the catalog, in milliseconds. */
const MAX_AGE_MS = 4000;

/** How a portal user becomes a directory user: `directory.portalUsers`. */
export interface PortalUsersConfig {
  /** Namespace of the portal users, in lower case. */
  readonly namespace: string;
  /** Where the user name is. */
  readonly username: 'entityName' | 'annotation';
}

/** What the catalog knows of a portal user. */
interface Annotation {
  /** The user name of the trusted annotation, if there is one. */
  readonly username: string | undefined;
  /** Whether other trusted users have the same annotation. */
  readonly isShared: boolean;
}

/**
 * Maps portal users to directory users by `directory.portalUsers`: the
 * administrator's statement that every sign-in provider of the portal may
 * vouch for that name. A name is never changed into another. Annotations count
 * only on entities from `directory.trustedLocations`.
 */
export class PortalUserNames {
  readonly #config: PortalUsersConfig | undefined;
  readonly #trustedLocations: TrustedLocations;
  readonly #auth: AuthService;
  readonly #catalog: CatalogService;
  readonly #logger: LoggerService;
  /** By entity reference. */
  readonly #annotations = new LRUCache<string, Annotation>({
    max: 10_000,
    ttl: MAX_AGE_MS,
    fetchMethod: userEntityRef => this.#readAnnotation(userEntityRef),
  });

  constructor(options: {
    readonly config: PortalUsersConfig | undefined;
    readonly trustedLocations: TrustedLocations;
    readonly auth: AuthService;
    readonly catalog: CatalogService;
    readonly logger: LoggerService;
  }) {
    this.#config = options.config;
    this.#trustedLocations = options.trustedLocations;
    this.#auth = options.auth;
    this.#catalog = options.catalog;
    this.#logger = options.logger;
  }

  /** Whether portal users are mapped to directory users. */
  get areMapped(): boolean {
    return this.#config !== undefined;
  }

  /**
   * Returns the name of a portal user in the directory, or `undefined` for a
   * user who is not mapped. Annotations may be up to 4 seconds old.
   *
   * @throws UnauthorizedError when several entities have the same annotation
   */
  async usernameOf(user: BackstageUserPrincipal): Promise<string | undefined> {
    const { kind, namespace, name } = parseEntityRef(user.userEntityRef);
    if (
      !this.#config ||
      kind.toLowerCase() !== 'user' ||
      namespace.toLowerCase() !== this.#config.namespace
    ) {
      return undefined;
    }
    if (this.#config.username === 'entityName') {
      return name;
    }
    const { username, isShared } = await this.#annotations.forceFetch(
      user.userEntityRef,
    );
    if (isShared) {
      throw new UnauthorizedError('unknown_principal');
    }
    return username;
  }

  async #readAnnotation(userEntityRef: string): Promise<Annotation> {
    const entity = await this.#catalog.getEntityByRef(userEntityRef, {
      credentials: await this.#auth.getOwnServiceCredentials(),
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
    const config = this.#config;
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

  /** The users whose trusted annotation is this user name, in any case. */
  async #annotatedRefs(username: string): Promise<readonly string[]> {
    const { items } = await this.#catalog.getEntities(
      {
        filter: {
          kind: 'User',
          'metadata.namespace': this.#config!.namespace,
          [`metadata.annotations.${USERNAME_ANNOTATION}`]: username,
        },
        fields: [
          'kind',
          'metadata.namespace',
          'metadata.name',
          'metadata.annotations',
        ],
      },
      { credentials: await this.#auth.getOwnServiceCredentials() },
    );
    const refs = items
      .filter(entity => this.#isTrusted(entity))
      .map(entity => stringifyEntityRef(entity));
    if (refs.length > 1) {
      this.#logger.warn(
        `The users ${refs.join(
          ', ',
        )} have the same annotation ${USERNAME_ANNOTATION}: none of them is mapped to a directory user`,
      );
    }
    return refs;
  }

  #isTrusted(entity: Entity | undefined): entity is Entity {
    return entity !== undefined && this.#trustedLocations.includes(entity);
  }
}
