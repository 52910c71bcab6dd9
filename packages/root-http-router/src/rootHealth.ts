import {
  coreServices,
  createServiceFactory,
  type RootHealthService,
} from '@backstage/backend-plugin-api';
import { readinessChecksServiceRef } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * Backstage's root health service, with readiness checks of plugins:
 * `/.backstage/health/v1/readiness` returns 503 until all plugins have started
 * and no check is pending, and again when the shutdown begins. Install it with
 * `backend.add(rootHealth)`.
 *
 * A hook of `rootLifecycle` cannot do this: Backstage's own health service
 * reports that the backend is ready without waiting for the hooks of others.
 *
 * @public
 */
export const rootHealth = createServiceFactory({
  service: coreServices.rootHealth,
  deps: {
    lifecycle: coreServices.rootLifecycle,
    checks: readinessChecksServiceRef,
  },
  factory({ lifecycle, checks }): RootHealthService {
    let state: 'starting' | 'started' | 'shutting down' = 'starting';
    lifecycle.addStartupHook(() => {
      state = 'started';
    });
    lifecycle.addBeforeShutdownHook(() => {
      state = 'shutting down';
    });
    const healthy = { status: 200, payload: { status: 'ok' } };
    return {
      getLiveness: async () => healthy,
      async getReadiness() {
        const pending = state === 'started' ? checks.pending() : [state];
        const message = `Not ready yet: ${pending.join(', ')}`;
        return pending.length === 0
          ? healthy
          : { status: 503, payload: { message, status: 'error' } };
      },
    };
  },
});
