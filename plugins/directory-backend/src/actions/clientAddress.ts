import {
  coreServices,
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';
import type { Request } from 'express';
import { AsyncLocalStorage } from 'node:async_hooks';

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
