import {
  type BackstageCredentials,
  coreServices,
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';
import type { BasicPermission } from '@backstage/plugin-permission-common';
import type { AccessControl } from '../access/AccessControl';
import type { Callers } from '../access/Callers';
import { toApiError } from '../apiErrors';
import type { Request } from 'express';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Accounts, Caller } from '@directory-gateway/directory-core';

/** Options of {@link ActionGate}. */
export interface ActionGateOptions {
  readonly callers: Pick<Callers, 'withCredentials'>;
  readonly access: Pick<AccessControl, 'require'>;
  readonly accounts: Pick<Accounts, 'requireLive'>;
  readonly clientAddress: ClientAddress;
}

/**
 * Authenticates and authorizes callers of actions with the same checks as API
 * requests.
 */
export class ActionGate {
  readonly #options: ActionGateOptions;

  constructor(options: ActionGateOptions) {
    this.#options = options;
  }

  /**
   * Runs an action for a caller who has the permission.
   *
   * @throws ApiError in the same cases as the API.
   */
  async run<T>(action: {
    readonly credentials: BackstageCredentials;
    readonly permission: BasicPermission;
    /** Audits a call without the permission. */
    readonly recordDenial: (denied: {
      readonly caller: Caller;
      readonly error: Error;
    }) => Promise<void>;
    readonly perform: (caller: Caller) => Promise<T>;
  }): Promise<T> {
    const { callers, access, accounts, clientAddress } = this.#options;
    try {
      const caller = await callers.withCredentials(action.credentials, {
        ip: clientAddress.get(),
      });
      try {
        await access.require(caller, action.permission);
      } catch (error) {
        await action.recordDenial({ caller, error: error as Error });
        throw error;
      }
      accounts.requireLive(caller);
      return await action.perform(caller);
    } catch (error) {
      throw toApiError(error) ?? error;
    }
  }
}

/** The address from which an action is invoked. */
export interface ClientAddress {
  /** An IP address; `undefined` outside of a request. */
  get(): string | undefined;
}

/**
 * Backstage does not pass the client address to actions; this service does.
 * When another plugin invokes the action, the address is that plugin's. It must
 * be the first dependency: its middleware has to precede the routes of the
 * actions registry.
 */
export const clientAddressServiceRef = createServiceRef<ClientAddress>({
  id: 'directory.client-address',
  scope: 'plugin',
  defaultFactory: async service =>
    createServiceFactory({
      service,
      deps: { httpRouter: coreServices.httpRouter },
      factory({ httpRouter }) {
        const storage = new AsyncLocalStorage<string | undefined>();
        httpRouter.use((req: Request, _res, next) => {
          // Express matches routes case-insensitively.
          if (/^\/\.backstage\/actions\//i.test(req.path)) {
            storage.run(req.ip, next);
          } else {
            next();
          }
        });
        return { get: () => storage.getStore() };
      },
    }),
});
