import {
  createServiceFactory,
  createServiceRef,
} from '@backstage/backend-plugin-api';

/**
 * A condition that must be true, after all plugins have started, before the
 * backend reports that it is ready.
 *
 * @public
 */
export interface ReadinessCheck {
  /**
   * Name of the component in the readiness response, such as
   * `directory replica`.
   */
  readonly name: string;
  /**
   * Maximum delay after the call of `add`, in milliseconds. After that, the
   * check is ignored: a process that never becomes ready would block a rolling
   * update while a system that it depends on is down.
   */
  readonly maxWaitMs: number;
  /** Called once per readiness request until it returns true. Must not throw. */
  isReady(): boolean;
}

/**
 * The readiness checks of all plugins in a backend. They only delay the start:
 * a check that has passed is not called again.
 *
 * @public
 */
export interface ReadinessChecksService {
  /** Adds a check. Must be called in `init` of a plugin. */
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
 * Root service with which plugins add readiness checks. The root health service
 * of `@directory-gateway/root-http-router` evaluates them; in a backend without
 * it, they have no effect.
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
