import type { PermissionsService } from '@backstage/backend-plugin-api';
import {
  AuthorizeResult,
  type BasicPermission,
} from '@backstage/plugin-permission-common';
import type { AccessRule } from '../config';
import type { Caller } from '../directory/Caller';
import { ForbiddenError } from './response/apiErrors';

/**
 * Who may do what. The portal's permission framework decides about holders of
 * a portal token; about holders of a ticket, who have none, `directory.access`
 * does: without rules everyone may do everything that the contract offers.
 */
export class AccessControl {
  readonly #permissions: PermissionsService;
  readonly #rules: readonly AccessRule[] | undefined;

  constructor(options: {
    readonly permissions: PermissionsService;
    readonly rules?: readonly AccessRule[];
  }) {
    this.#permissions = options.permissions;
    this.#rules = options.rules;
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
      return (
        !this.#rules ||
        this.#rules.some(
          ({ who, operations }) =>
            operations.has(permission.name) && who.has(caller),
        )
      );
    }
    const [decision] = await this.#permissions.authorize([{ permission }], {
      credentials: caller.credentials,
    });
    return decision.result === AuthorizeResult.ALLOW;
  }
}
