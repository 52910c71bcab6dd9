import { rootHttpRouterServiceFactory } from '@backstage/backend-defaults/rootHttpRouter';
import {
  raiseHeaderLimit,
  readKerberosConfig,
} from '@directory-gateway/kerberos';
import { compressAnswers } from './compressAnswers';
import { requestLog } from './requestLog';

/**
 * Backstage's root HTTP router with room for a Kerberos ticket in the headers,
 * a request log that does not record queries, and no compression where it
 * costs time and saves none.
 */
export const rootHttpRouter = rootHttpRouterServiceFactory({
  configure({ server, config, middleware, logger, applyDefaults }) {
    raiseHeaderLimit(server, readKerberosConfig(config));
    // Replaced on the factory rather than by composing the middleware here:
    // the defaults also read `backend.trustProxy` and `backend.server`, and
    // those settings must keep working.
    middleware.logging = () => requestLog({ logger });
    middleware.compression = compressAnswers;
    applyDefaults();
  },
});
