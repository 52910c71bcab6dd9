import {
  coreServices,
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';
import { KerberosService } from './KerberosService';
import { readKerberosConfig } from './readKerberosConfig';
import { SpnegoAcceptor } from './SpnegoAcceptor';

/**
 * Authenticates callers by Kerberos, for every plugin. The backend has one
 * instance, which is configured by `kerberos` and does not have to be
 * registered.
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
      },
      async factory({ config, rootLogger }) {
        const logger = rootLogger.child({ service: 'kerberos' });
        const options = readKerberosConfig(config);
        return await SpnegoAcceptor.create({ ...options, logger });
      },
    }),
});
