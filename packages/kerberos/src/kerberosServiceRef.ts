import {
  coreServices,
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';
import { highestHeaderLimit, REQUIRED_HEADER_BYTES } from './headerLimit';
import { KerberosService } from './KerberosService';
import { readKerberosConfig } from './readKerberosConfig';
import { SpnegoAcceptor } from './SpnegoAcceptor';

/**
 * Authenticates callers by Kerberos, for every plugin. The backend has one
 * instance, which is configured by `kerberos` and does not have to be
 * registered.
 *
 * Logs a warning at start when no HTTP server of the process accepts headers of the size of a token.
 *
 * @public
 */
export const kerberosServiceRef = createServiceRef<KerberosService>({
  id: 'directory-gateway.kerberos',
  scope: 'root',
  defaultFactory: async service =>
    createServiceFactory({
      service,
      deps: {
        config: coreServices.rootConfig,
        rootLogger: coreServices.rootLogger,
        lifecycle: coreServices.rootLifecycle,
      },
      async factory({ config, rootLogger, lifecycle }) {
        const logger = rootLogger.child({ service: 'kerberos' });
        const options = readKerberosConfig(config);
        // The root HTTP router is already configured at this point.
        lifecycle.addStartupHook(() => {
          if (highestHeaderLimit() < REQUIRED_HEADER_BYTES) {
            logger.warn(
              `Requests with more than ${highestHeaderLimit()} bytes of headers get 431, but a Kerberos ticket may ` +
                `need ${REQUIRED_HEADER_BYTES}. Call raiseHeaderLimit where the root HTTP router is configured, or start ` +
                `Node with --max-http-header-size=${REQUIRED_HEADER_BYTES}.`,
            );
          }
        });
        return await SpnegoAcceptor.create({ ...options, logger });
      },
    }),
});
