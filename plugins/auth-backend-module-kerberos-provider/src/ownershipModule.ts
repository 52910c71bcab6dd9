import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import {
  type Entity,
  RELATION_MEMBER_OF,
  parseEntityRef,
  stringifyEntityRef,
} from '@backstage/catalog-model';
import { authOwnershipResolutionExtensionPoint } from '@backstage/plugin-auth-node';
import { TrustedLocations } from '@directory-gateway/backstage-plugin-directory-node';
import { DirectoryAccounts } from './DirectoryAccounts';

const USERNAME_ANNOTATION = 'directory-gateway/username';

/**
 * Adds directory groups to the portal tokens of users who sign in with other
 * providers, if `directory.portalUsers` maps the user to a directory user.
 * Mapped users who are locked or not in the directory do not get any groups.
 * Users who are not mapped keep Backstage's default, the groups of their
 * entity. While the directory is unavailable, mapped users cannot sign in.
 *
 * Optional. A portal can have only one module of this kind.
 *
 * @public
 */
export const authModuleDirectoryOwnership = createBackendModule({
  pluginId: 'auth',
  moduleId: 'directory-ownership',
  register(env) {
    env.registerInit({
      deps: {
        auth: coreServices.auth,
        config: coreServices.rootConfig,
        discovery: coreServices.discovery,
        logger: coreServices.logger,
        resolution: authOwnershipResolutionExtensionPoint,
      },
      async init(deps) {
        const { config, resolution } = deps;
        const accounts = new DirectoryAccounts(deps);
        const trustedLocations = TrustedLocations.fromConfig(config);
        const mapping = config.getOptionalConfig('directory.portalUsers');
        const namespace = mapping?.getString('namespace').toLowerCase();
        const byName = mapping?.getString('username') === 'entityName';

        const usernameOf = (entity: Entity) => {
          const ref = parseEntityRef(stringifyEntityRef(entity));
          if (ref.namespace !== namespace) {
            return undefined;
          }
          if (byName) {
            return entity.metadata.name;
          }
          return trustedLocations.includes(entity)
            ? entity.metadata.annotations?.[USERNAME_ANNOTATION]
            : undefined;
        };

        resolution.setAuthOwnershipResolver({
          async resolveOwnershipEntityRefs(entity) {
            const username = usernameOf(entity);
            const options = { namespace: namespace! };
            const groupRefs =
              username === undefined
                ? groupRefsInCatalog(entity)
                : await accounts.groupRefsOf(username, options);
            return {
              ownershipEntityRefs: [stringifyEntityRef(entity), ...groupRefs],
            };
          },
        });
      },
    });
  },
});

function groupRefsInCatalog({ relations = [] }: Entity): readonly string[] {
  return relations
    .filter(({ type }) => type === RELATION_MEMBER_OF)
    .map(({ targetRef }) => targetRef);
}
