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
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { LRUCache } from 'lru-cache';
import type { AccessRule } from '../config';
import type { Caller } from '../directory/Caller';
import { ForbiddenError } from './response/apiErrors';

/** As long as what is known of a caller's account holds. */
const READING_HOLDS_MS = 4000;

/** What the contract offers to every holder of a ticket. */
const OFFERED_TO_ALL: ReadonlySet<string> = new Set([
  directoryReadPermission.name,
  directoryCertificateSignPermission.name,
]);

/** What a decision is made about. */
interface Asked {
  readonly permission: BasicPermission;
  readonly credentials: BackstageCredentials;
}

/**
 * Who may do what. The portal's permission framework decides about holders of
 * a portal token; about holders of a ticket, who have none, `directory.access`
 * does: without rules everyone may do everything that the contract offers, and
 * nothing beyond it.
 */
export class AccessControl {
  readonly #permissions: PermissionsService;
  readonly #rules: readonly AccessRule[] | undefined;
  /**
   * Who may read, by entity reference: a decision is a request to another
   * plugin, with a token made for it, and costs more than what it decides
   * about. What else there is to permit is asked each time.
   */
  readonly #readers: LRUCache<string, { allowed: boolean }, Asked>;

  constructor(options: {
    readonly permissions: PermissionsService;
    readonly rules?: readonly AccessRule[];
    /** Milliseconds for which a decision about reading holds. Default 4,000. */
    readonly readingHoldsMs?: number;
  }) {
    this.#permissions = options.permissions;
    this.#rules = options.rules;
    this.#readers = new LRUCache({
      max: 10_000,
      ttl: options.readingHoldsMs ?? READING_HOLDS_MS,
      fetchMethod: async (_user, _stale, { context }) => ({
        allowed: await this.#decide(context),
      }),
    });
  }

  /** @throws ForbiddenError when the caller may not do this. */
  async require(caller: Caller, permission: BasicPermission): Promise<void> {
    if (!(await this.#isAllowed(caller, permission))) {
      throw new ForbiddenError({ message: 'You may not do this.' });
    }
  }

  async #isAllowed(
    caller: Caller,
    permission: BasicPermission,
  ): Promise<boolean> {
    if (caller.kind === 'kerberos') {
      return this.#rules
        ? this.#rules.some(
            ({ who, operations }) =>
              operations.has(permission.name) && who.has(caller),
          )
        : OFFERED_TO_ALL.has(permission.name);
    }
    const asked = { permission, credentials: caller.credentials };
    if (
      caller.kind !== 'portalUser' ||
      permission.name !== directoryReadPermission.name
    ) {
      return this.#decide(asked);
    }
    const { userEntityRef } = caller.credentials.principal;
    const known = await this.#readers.fetch(userEntityRef, { context: asked });
    return known?.allowed ?? false;
  }

  async #decide({ permission, credentials }: Asked): Promise<boolean> {
    const [decision] = await this.#permissions.authorize([{ permission }], {
      credentials,
    });
    return decision.result === AuthorizeResult.ALLOW;
  }
}
