import { parseEntityRef, stringifyEntityRef } from '@backstage/catalog-model';
import type { Config } from '@backstage/config';
import {
  catalogConditions,
  createCatalogConditionalDecision,
} from '@backstage/plugin-catalog-backend/alpha';
import { RESOURCE_TYPE_CATALOG_ENTITY } from '@backstage/plugin-catalog-common/alpha';
import {
  AuthorizeResult,
  isResourcePermission,
  type PolicyDecision,
} from '@backstage/plugin-permission-common';
import type {
  PermissionPolicy,
  PolicyQuery,
  PolicyQueryUser,
} from '@backstage/plugin-permission-node';

const EVERYONE = 'everyone';

/** Permissions known to the policy, with their default audiences. */
const DEFAULT_AUDIENCES = {
  'catalog.entity.create': 'administrators',
  'catalog.entity.delete': 'administrators',
  'catalog.entity.read': EVERYONE,
  'catalog.entity.refresh': 'administrators',
  // Runs the processors on the entity, which may read URLs in the entity.
  'catalog.entity.validate': 'administrators',
  'catalog.ingestion.manage': 'administrators',
  'catalog.ingestion.read': 'administrators',
  'catalog.location.analyze': 'administrators',
  'catalog.location.create': 'administrators',
  'catalog.location.delete': 'administrators',
  'catalog.location.read': 'administrators',
  'directory.certificate.revoke': 'administrators',
  'directory.certificate.sign': EVERYONE,
  'directory.group.read': EVERYONE,
  'directory.history.read': 'administrators',
  'directory.members.export': 'administrators',
  'directory.read': EVERYONE,
  'directory.replica.override': 'administrators',
  'directory.user.read': EVERYONE,
} as const;

/** Default user of the guest provider. */
const DEFAULT_GUEST = 'user:development/guest';

/** Normalized entity references; `everyone` includes every user. */
type Audience = ReadonlySet<string>;

interface PolicyOptions {
  /** Audiences by permission name. */
  readonly audiences: ReadonlyMap<string, Audience>;
  readonly administrators: Audience;
  /** Whether a portal user may read according to `directory.access`. */
  readonly isOpenTo: (userEntityRef: string) => boolean;
  /** Users without any permission. */
  readonly guests: ReadonlySet<string>;
}

/**
 * Default permission policy for a portal with the directory gateway. Denies
 * unknown permissions, denies everything to guests and to requests without a
 * user, and allows users to read `User` and `Group` entities of the catalog
 * only if they may read the directory.
 */
export class DirectoryPermissionPolicy implements PermissionPolicy {
  readonly #options: PolicyOptions;

  /**
   * Reads `permission.directory`, `auth.providers.guest` and
   * `directory.access`.
   *
   * @throws Error that names an invalid key
   */
  static fromConfig(root: Config): DirectoryPermissionPolicy {
    if (root.getOptionalBoolean('permission.enabled') !== true) {
      throw new Error(
        'permission.enabled must be true: otherwise Backstage allows everything and does not query the permission policy',
      );
    }
    const config = root.getOptionalConfig('permission.directory');
    const administrators = (
      config?.getOptionalStringArray('administrators') ?? []
    ).map(ref => readRef(ref, 'permission.directory.administrators'));
    const fromRules = readRules(config);
    const audiences = new Map<string, Audience>();
    for (const [name, audience] of Object.entries(DEFAULT_AUDIENCES)) {
      const others = audience === EVERYONE ? [EVERYONE] : [];
      audiences.set(name, new Set([...administrators, ...others]));
    }
    for (const [name, refs] of fromRules) {
      audiences.set(name, new Set([...administrators, ...refs]));
    }
    return new DirectoryPermissionPolicy({
      audiences,
      administrators: new Set(administrators),
      isOpenTo: fromRules.has('directory.read')
        ? () => true
        : readDirectoryReaders(root),
      guests: config?.getOptionalBoolean('dangerouslyAllowGuests')
        ? new Set()
        : readGuests(root),
    });
  }

  private constructor(options: PolicyOptions) {
    this.#options = options;
  }

  async handle(
    { permission }: PolicyQuery,
    user?: PolicyQueryUser,
  ): Promise<PolicyDecision> {
    const { audiences, guests } = this.#options;
    const audience = audiences.get(permission.name);
    if (!user || !audience) {
      return { result: AuthorizeResult.DENY };
    }
    const { userEntityRef, ownershipEntityRefs } = user.info;
    const refs = [userEntityRef, ...ownershipEntityRefs].map(normalize);
    if (guests.has(refs[0]) || !includesAny(audience, refs)) {
      return { result: AuthorizeResult.DENY };
    }
    if (
      isResourcePermission(permission, RESOURCE_TYPE_CATALOG_ENTITY) &&
      !this.#mayReadDirectory(refs)
    ) {
      return createCatalogConditionalDecision(permission, {
        not: catalogConditions.isEntityKind({ kinds: ['User', 'Group'] }),
      });
    }
    return { result: AuthorizeResult.ALLOW };
  }

  #mayReadDirectory(refs: readonly string[]): boolean {
    const { administrators, audiences, isOpenTo } = this.#options;
    return (
      includesAny(administrators, refs) ||
      (includesAny(audiences.get('directory.read')!, refs) && isOpenTo(refs[0]))
    );
  }
}

/**
 * Returns a function that determines from an entity reference whether a portal
 * user may read according to `directory.access`. Ignores rules for specific
 * users or groups, because the policy does not know which portal users these
 * are: list such readers in `permission.directory.rules`.
 */
function readDirectoryReaders(root: Config): (ref: string) => boolean {
  const rules = root.getOptionalConfigArray('directory.access');
  const isOpen = (key: 'principals' | 'portalUsers') =>
    rules === undefined ||
    rules.some(
      rule =>
        rule.getStringArray('operations').includes('directory.read') &&
        rule.getOptionalStringArray(key)?.includes('*'),
    );
  const toPrincipals = isOpen('principals');
  const toPortalUsers = isOpen('portalUsers');
  const mapping = root.getOptionalConfig('directory.portalUsers');
  const namespace = mapping?.getString('namespace').toLowerCase();
  const mapsAll = mapping?.getString('username') === 'entityName';
  return ref =>
    parseEntityRef(ref).namespace === namespace
      ? toPrincipals && (mapsAll || toPortalUsers)
      : toPortalUsers;
}

function includesAny(audience: Audience, refs: readonly string[]): boolean {
  return audience.has(EVERYONE) || refs.some(ref => audience.has(ref));
}

/**
 * Returns a reference in lower case with its namespace; empty for other text.
 */
function normalize(ref: string): string {
  try {
    return stringifyEntityRef(parseEntityRef(ref));
  } catch {
    return '';
  }
}

/** Returns the audiences of the permissions in `permission.directory.rules`. */
function readRules(config: Config | undefined): Map<string, string[]> {
  const audiences = new Map<string, string[]>();
  const rules = config?.getOptionalConfigArray('rules') ?? [];
  for (const [index, rule] of rules.entries()) {
    const key = `permission.directory.rules[${index}].allow`;
    const refs = rule
      .getStringArray('allow')
      .map(ref => (ref === EVERYONE ? ref : readRef(ref, key)));
    for (const name of rule.getStringArray('permissions')) {
      audiences.set(name, [...(audiences.get(name) ?? []), ...refs]);
    }
  }
  return audiences;
}

function readRef(text: string, key: string): string {
  const ref = normalize(text);
  if (!/^(?:user|group):/.test(ref)) {
    throw new Error(
      `${key} must contain entity references such as user:default/alice or group:default/portal-admins, not "${text}"`,
    );
  }
  return ref;
}

function readGuests(root: Config): ReadonlySet<string> {
  const key = 'auth.providers.guest.userEntityRef';
  const configured = root.getOptionalString(key);
  return new Set([
    DEFAULT_GUEST,
    ...(configured === undefined ? [] : [readRef(configured, key)]),
  ]);
}
