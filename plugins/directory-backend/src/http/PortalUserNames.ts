import type { BackstageUserPrincipal } from '@backstage/backend-plugin-api';
import type { AuthService } from '@backstage/backend-plugin-api';
import {
  KubernetesValidatorFunctions,
  parseEntityRef,
  stringifyEntityRef,
} from '@backstage/catalog-model';
import type { CatalogService } from '@backstage/plugin-catalog-node';
import type { PortalUsersConfig } from '../config';

/** The annotation of a catalog user that names its directory user. */
export const USERNAME_ANNOTATION = 'directory-gateway/username';

/**
 * Which directory user a portal user is, by `directory.portalUsers`: the
 * administrator's statement that every sign-in provider of the portal may
 * vouch for that name. A name is never changed into another.
 */
export class PortalUserNames {
  readonly #config: PortalUsersConfig | undefined;
  readonly #auth: AuthService;
  readonly #catalog: CatalogService;

  constructor(options: {
    readonly config: PortalUsersConfig | undefined;
    readonly auth: AuthService;
    readonly catalog: CatalogService;
  }) {
    this.#config = options.config;
    this.#auth = options.auth;
    this.#catalog = options.catalog;
  }

  /** Whether a portal user can be a directory user at all. */
  get areMapped(): boolean {
    return this.#config !== undefined;
  }

  /** The user name, or `undefined` for a user who is a stranger here. */
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
    const entity = await this.#catalog.getEntityByRef(user.userEntityRef, {
      credentials: await this.#auth.getOwnServiceCredentials(),
    });
    return entity?.metadata.annotations?.[USERNAME_ANNOTATION];
  }

  /**
   * The portal users who are a directory user, as entity references: the other
   * way round. None where a user name cannot be an entity's name.
   */
  async entityRefsOf(username: string): Promise<readonly string[]> {
    const config = this.#config;
    if (!config) {
      return [];
    }
    const { namespace } = config;
    if (config.username === 'entityName') {
      return KubernetesValidatorFunctions.isValidObjectName(username)
        ? [stringifyEntityRef({ kind: 'User', namespace, name: username })]
        : [];
    }
    const { items } = await this.#catalog.getEntities(
      {
        filter: {
          kind: 'User',
          'metadata.namespace': namespace,
          [`metadata.annotations.${USERNAME_ANNOTATION}`]: username,
        },
        fields: ['kind', 'metadata.namespace', 'metadata.name'],
      },
      { credentials: await this.#auth.getOwnServiceCredentials() },
    );
    return items.map(entity => stringifyEntityRef(entity));
  }
}
