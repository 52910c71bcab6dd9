import {
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';

/**
 * A condition that the backend waits for, after all plugins have started,
 * before it reports that it is ready.
 *
 * @public
 */
export interface ReadinessCheck {
  /** What is not ready yet, for the readiness response: `directory replica`. */
  readonly name: string;
  /**
   * Maximum delay in milliseconds, from the call of `add`. After that the check
   * no longer counts: a process that never becomes ready would otherwise stop a
   * rolling update while a system that it depends on is down.
   */
  readonly maxWaitMs: number;
  /** Called once per readiness request until it returns true. Must not throw. */
  isReady(): boolean;
}

/**
 * The readiness checks of all plugins of a backend. They only delay the start:
 * a check that has passed is not called again.
 *
 * @public
 */
export interface ReadinessChecksService {
  /** Adds a check. Call it in `init` of a plugin. */
  add(check: ReadinessCheck): void;
  /** Returns the names of the checks that the backend is waiting for. */
  pending(): string[];
}

class PendingChecks implements ReadinessChecksService {
  readonly #checks = new Map<ReadinessCheck, number>();

  add(check: ReadinessCheck): void {
    this.#checks.set(check, performance.now() + check.maxWaitMs);
  }

  pending(): string[] {
    for (const [check, deadline] of this.#checks) {
      if (performance.now() >= deadline || check.isReady()) {
        this.#checks.delete(check);
      }
    }
    return [...this.#checks.keys()].map(({ name }) => name);
  }
}

/**
 * The root service where plugins add readiness checks. The root health service
 * of `@directory-gateway/root-http-router` evaluates them; in a backend without
 * it they have no effect.
 *
 * @public
 */
export const readinessChecksServiceRef =
  createServiceRef<ReadinessChecksService>({
    id: 'directory-gateway.readiness-checks',
    scope: 'root',
    defaultFactory: async service =>
      createServiceFactory({
        service,
        deps: {},
        factory: () => new PendingChecks(),
      }),
  });
