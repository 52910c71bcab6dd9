import type {
  BackstageCredentials,
  PermissionsService,
} from '@backstage/backend-plugin-api';
import { CustomErrorBase } from '@backstage/errors';
import {
  AuthorizeResult,
  type BasicPermission,
} from '@backstage/plugin-permission-common';
import {
  directoryCertificateSignPermission,
  directoryGroupReadPermission,
  directoryPermissions,
  directoryReadPermission,
  directoryUserReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { LRUCache } from 'lru-cache';
import type {
  Caller,
  PrincipalSet,
  Visibility,
} from '@directory-gateway/directory-core';
import { ForbiddenError } from '../apiErrors';
import { type PermissionRules, visibilityBy } from './visibility';

/** Milliseconds for which read decisions are cached, as for accounts. */
const READ_DECISION_MS = 4000;

/** Permissions of users when `directory.access` is not configured. */
const OPEN_TO_USERS: ReadonlySet<string> = new Set([
  directoryReadPermission.name,
  directoryCertificateSignPermission.name,
]);

/** Permissions of services without a rule that names them. */
const OPEN_TO_SERVICES: ReadonlySet<string> = new Set([
  directoryReadPermission.name,
]);

/** The portal's permission policy cannot be queried. */
export class PolicyUnavailableError extends CustomErrorBase {
  name = 'PolicyUnavailableError' as const;
}

/** One rule of `directory.access`. */
export interface AccessRule {
  readonly callers: PrincipalSet;
  /** Names of the directory's permissions. */
  readonly operations: ReadonlySet<string>;
}

/** Decision of the policy about reading. */
interface ReadDecision {
  readonly allowed: boolean;
  readonly visible: Visibility | undefined;
}

/** A request to the permission framework. */
interface PolicyRequest {
  readonly permission: BasicPermission;
  readonly credentials: BackstageCredentials;
}

/**
 * Authorizes callers: `directory.access` must allow an operation and, for
 * callers with a portal token, the portal's permission policy as well.
 *
 * Without `directory.access`, users may read and request their own
 * certificates; services may always read. Everything else requires a rule, so
 * that a policy that allows everything does not grant it.
 */
export class AccessControl {
  readonly #permissions: PermissionsService;
  readonly #registry: PermissionRules;
  readonly #rules: readonly AccessRule[] | undefined;
  /**
   * Read decisions by user token, cached because each one requires a request to
   * another plugin. Tokens of one user can have different ownership claims.
   * Other decisions are not cached.
   */
  readonly #readDecisions: LRUCache<string, ReadDecision, PolicyRequest>;

  constructor(options: {
    readonly permissions: PermissionsService;
    readonly permissionsRegistry: PermissionRules;
    readonly rules?: readonly AccessRule[];
    /** Milliseconds for which read decisions are cached. Default: 4000. */
    readonly readDecisionMs?: number;
  }) {
    this.#permissions = options.permissions;
    this.#registry = options.permissionsRegistry;
    this.#rules = options.rules;
    this.#readDecisions = new LRUCache({
      max: 10_000,
      ttl: options.readDecisionMs ?? READ_DECISION_MS,
      fetchMethod: (_token, _stale, { context }) => this.#decide(context),
    });
  }

  /** @throws ForbiddenError when the caller may not perform the operation. */
  async require(caller: Caller, permission: BasicPermission): Promise<void> {
    if (!(await this.#isAllowed(caller, permission))) {
      throw new ForbiddenError({ message: 'You are not allowed to do this.' });
    }
  }

  /**
   * Returns the entries that the policy shows to a portal user; `undefined` for
   * all. Other callers see everything that they may read: the policy does not
   * apply to Kerberos callers, and grants services all permissions.
   */
  async visibilityOf(caller: Caller): Promise<Visibility | undefined> {
    return caller.kind === 'portalUser'
      ? (await this.#readDecisionOf(caller)).visible
      : undefined;
  }

  /** Returns the names of all operations that the caller may perform. */
  async operationsOf(caller: Caller): Promise<ReadonlySet<string>> {
    const granted = directoryPermissions.filter(permission =>
      this.#ruleAllows(caller, permission),
    );
    const names = granted.map(({ name }) => name);
    if (caller.kind === 'kerberos') {
      return new Set(names);
    }
    const decisions = await query(() =>
      this.#permissions.authorize(
        granted.map(permission => ({ permission })),
        { credentials: caller.credentials },
      ),
    );
    return new Set(
      names.filter(
        (_name, index) => decisions[index].result === AuthorizeResult.ALLOW,
      ),
    );
  }

  async #isAllowed(
    caller: Caller,
    permission: BasicPermission,
  ): Promise<boolean> {
    if (!this.#ruleAllows(caller, permission)) {
      return false;
    }
    if (caller.kind === 'kerberos') {
      return true;
    }
    return caller.kind === 'portalUser' &&
      permission.name === directoryReadPermission.name
      ? (await this.#readDecisionOf(caller)).allowed
      : this.#policyAllows({ permission, credentials: caller.credentials });
  }

  async #readDecisionOf({
    credentials,
    issuedAt,
  }: Extract<Caller, { kind: 'portalUser' }>): Promise<ReadDecision> {
    const request = { permission: directoryReadPermission, credentials };
    if (!issuedAt) {
      return await this.#decide(request); // the token is not known
    }
    const { userEntityRef } = credentials.principal;
    const decision = await this.#readDecisions.fetch(
      `${userEntityRef} ${issuedAt.getTime()}`,
      { context: request },
    );
    return decision!;
  }

  async #decide(request: PolicyRequest): Promise<ReadDecision> {
    const [allowed, visible] = await Promise.all([
      this.#policyAllows(request),
      this.#policyShows(request),
    ]);
    return { allowed, visible };
  }

  #ruleAllows(caller: Caller, { name }: BasicPermission): boolean {
    const isNamed = this.#rules?.some(
      ({ callers, operations }) => operations.has(name) && callers.has(caller),
    );
    if (isNamed) {
      return true;
    }
    return caller.kind === 'portalService'
      ? OPEN_TO_SERVICES.has(name)
      : this.#rules === undefined && OPEN_TO_USERS.has(name);
  }

  async #policyShows({
    credentials,
  }: PolicyRequest): Promise<Visibility | undefined> {
    const [users, groups] = await query(() =>
      this.#permissions.authorizeConditional(
        [
          { permission: directoryUserReadPermission },
          { permission: directoryGroupReadPermission },
        ],
        { credentials },
      ),
    );
    return visibilityBy({ users, groups }, this.#registry);
  }

  async #policyAllows({
    permission,
    credentials,
  }: PolicyRequest): Promise<boolean> {
    const [decision] = await query(() =>
      this.#permissions.authorize([{ permission }], { credentials }),
    );
    return decision.result === AuthorizeResult.ALLOW;
  }
}

/** @throws PolicyUnavailableError */
async function query<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw new PolicyUnavailableError(
      'The permission policy cannot be queried',
      error,
    );
  }
}
