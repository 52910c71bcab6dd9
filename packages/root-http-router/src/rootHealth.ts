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
    let reason: string | undefined = 'Backend has not started yet';
    lifecycle.addStartupHook(() => {
      reason = undefined;
    });
    lifecycle.addBeforeShutdownHook(() => {
      reason = 'Backend is shutting down';
    });

    const findReason = () => {
      const pending = reason === undefined ? checks.pending() : [];
      return pending.length > 0
        ? `Not ready yet: ${pending.join(', ')}`
        : reason;
    };
    return {
      async getLiveness() {
        return { status: 200, payload: { status: 'ok' } };
      },
      async getReadiness() {
        const message = findReason();
        return message === undefined
          ? { status: 200, payload: { status: 'ok' } }
          : { status: 503, payload: { message, status: 'error' } };
      },
    };
  },
});
