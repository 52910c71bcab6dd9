import type {
  BackstageCredentials,
  PermissionsService,
} from '@backstage/backend-plugin-api';
import {
  AuthorizeResult,
  type BasicPermission,
} from '@backstage/plugin-permission-common';
import {
  directoryCertificateSignPermission,
  directoryPermissions,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { LRUCache } from 'lru-cache';
import type { Caller, PrincipalSet } from '../../directory/Caller';
import { ForbiddenError } from '../response/apiErrors';

/** As long as accounts are cached. */
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

/** One rule of `directory.access`. */
export interface AccessRule {
  readonly callers: PrincipalSet;
  /** Names of the directory's permissions. */
  readonly operations: ReadonlySet<string>;
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
  readonly #rules: readonly AccessRule[] | undefined;
  /**
   * Decisions about reading by entity reference: each is a request to another
   * plugin. Decisions about other operations are not cached.
   */
  readonly #readDecisions: LRUCache<
    string,
    { allowed: boolean },
    PolicyRequest
  >;

  constructor(options: {
    readonly permissions: PermissionsService;
    readonly rules?: readonly AccessRule[];
    /** Milliseconds for which decisions about reading are cached. Default: 4000. */
    readonly readDecisionMs?: number;
  }) {
    this.#permissions = options.permissions;
    this.#rules = options.rules;
    this.#readDecisions = new LRUCache({
      max: 10_000,
      ttl: options.readDecisionMs ?? READ_DECISION_MS,
      fetchMethod: async (_user, _stale, { context }) => ({
        allowed: await this.#policyAllows(context),
      }),
    });
  }

  /** @throws ForbiddenError when the caller may not perform the operation. */
  async require(caller: Caller, permission: BasicPermission): Promise<void> {
    if (!(await this.#isAllowed(caller, permission))) {
      throw new ForbiddenError({ message: 'You are not allowed to do this.' });
    }
  }

  /** The names of all operations that the caller may perform. */
  async operationsOf(caller: Caller): Promise<ReadonlySet<string>> {
    const granted = directoryPermissions.filter(permission =>
      this.#ruleAllows(caller, permission),
    );
    const names = granted.map(({ name }) => name);
    if (caller.kind === 'kerberos') {
      return new Set(names);
    }
    const decisions = await this.#permissions.authorize(
      granted.map(permission => ({ permission })),
      { credentials: caller.credentials },
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
    const query = { permission, credentials: caller.credentials };
    if (
      caller.kind !== 'portalUser' ||
      permission.name !== directoryReadPermission.name
    ) {
      return this.#policyAllows(query);
    }
    const { userEntityRef } = caller.credentials.principal;
    const decision = await this.#readDecisions.fetch(userEntityRef, {
      context: query,
    });
    return decision?.allowed ?? false;
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

  async #policyAllows(query: PolicyRequest): Promise<boolean> {
    const { permission, credentials } = query;
    const [decision] = await this.#permissions.authorize([{ permission }], {
      credentials,
    });
    return decision.result === AuthorizeResult.ALLOW;
  }
}
