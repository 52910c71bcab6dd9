import {
  type BackstageCredentials,
  coreServices,
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';
import type { BasicPermission } from '@backstage/plugin-permission-common';
import type { Accounts } from '../directory/Accounts';
import type { Caller } from '../directory/Caller';
import type { AccessControl } from '../http/access/AccessControl';
import type { Authenticator } from '../http/access/Authenticator';
import type { Refusal } from '../http/api/Operation';
import { toApiError } from '../http/response/presentError';
import type { Request } from 'express';
import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Admits callers of the plugin's actions as the router admits those of the
 * API: the same account check and the same access rules.
 */
export class ActionGate {
  readonly #authenticator: Pick<Authenticator, 'callerOf'>;
  readonly #access: Pick<AccessControl, 'require'>;
  readonly #accounts: Pick<Accounts, 'requireLive'>;
  readonly #clientAddress: ClientAddress;

  constructor(options: {
    readonly authenticator: Pick<Authenticator, 'callerOf'>;
    readonly access: Pick<AccessControl, 'require'>;
    readonly accounts: Pick<Accounts, 'requireLive'>;
    readonly clientAddress: ClientAddress;
  }) {
    this.#authenticator = options.authenticator;
    this.#access = options.access;
    this.#accounts = options.accounts;
    this.#clientAddress = options.clientAddress;
  }

  /**
   * Performs an operation for a caller who may.
   *
   * @throws ApiError where the API would answer with one.
   */
  async admit<T>(options: {
    readonly credentials: BackstageCredentials;
    readonly permission: BasicPermission;
    /** Audits that the caller may not perform the operation. */
    readonly recordRefusal: (
      refusal: Pick<Refusal, 'caller' | 'error'>,
    ) => Promise<void>;
    readonly perform: (caller: Caller) => Promise<T>;
  }): Promise<T> {
    try {
      const caller = await this.#authenticator.callerOf(options.credentials, {
        ip: this.#clientAddress.get(),
      });
      try {
        await this.#access.require(caller, options.permission);
      } catch (error) {
        await options.recordRefusal({ caller, error: error as Error });
        throw error;
      }
      this.#accounts.requireLive(caller);
      return await options.perform(caller);
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
          // As Express matches the routes of the actions registry.
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
