import {
  coreServices,
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';
import { highestHeaderLimit, requiredHeaderBytes } from './headerLimit';
import { KerberosService } from './KerberosService';
import { readKerberosConfig } from './readKerberosConfig';
import { SpnegoAcceptor } from './SpnegoAcceptor';

/**
 * Tells every plugin who sent a Kerberos ticket. One instance for the whole backend, made of the
 * `kerberos` configuration; nothing needs to be installed.
 *
 * At start it warns when no HTTP server of the process takes headers as long as a token may be.
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
        // By then the root HTTP router has been configured.
        lifecycle.addStartupHook(() => {
          const required = requiredHeaderBytes(options);
          if (highestHeaderLimit() < required) {
            logger.warn(
              `Requests with more than ${highestHeaderLimit()} bytes of headers are answered 431, but a Kerberos ` +
                `ticket may need ${required}. Call raiseHeaderLimit where the root HTTP router is configured, or ` +
                `start Node with --max-http-header-size=${required}.`,
            );
          }
        });
        return await SpnegoAcceptor.create({ ...options, logger });
      },
    }),
});
