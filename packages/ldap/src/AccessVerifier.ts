import type { LoggerService } from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import {
  type DirectorySchema,
  DirectoryUnavailableError,
} from '@directory-gateway/directory-core';
import {
  accessRequirements,
  type AccessRequirement,
  readMissingRights,
} from './accessRequirements';
import type { LdapSearcher } from './connection/LdapPool';
import type { SchemaVerifier } from './SchemaVerifier';

/** Milliseconds for which a missing right is cached. */
const FAILURE_CACHE_MS = 1000;

/** Milliseconds for which a successful bind of a new connection is cached. */
const BIND_CACHE_MS = 1000;

/**
 * Maximum age in milliseconds of a check while an object class has no entry.
 */
const ABSENT_MAX_AGE_MS = 10_000;

/** Options of {@link AccessVerifier}. */
export interface AccessVerifierOptions {
  readonly searcher: LdapSearcher;
  readonly schemaVerifier: SchemaVerifier;
  /** DN of the service account. */
  readonly bindDn: string;
  readonly baseDn: string;
  readonly schema: DirectorySchema;
  /** Milliseconds for which a successful check is cached. */
  readonly maxAgeMs: number;
  readonly logger: LoggerService;
}

/**
 * Access check: verifies that the service account may read and search the
 * attributes on which privacy and authentication depend. An attribute hidden by
 * an access control instruction seems absent, also in a negated filter: a
 * private or locked user would read as public and unlocked. Nothing is served
 * before the check succeeds.
 */
export class AccessVerifier {
  readonly #options: AccessVerifierOptions;
  readonly #requirements: readonly AccessRequirement[];
  readonly #listeners = new Set<(message: string) => void>();
  readonly #reported = new Set<string>();
  #verifiedAt = -Infinity;
  #failure: { readonly at: number; readonly message: string } | undefined;
  #boundAt = -Infinity;
  #verifying: Promise<void> | undefined;

  constructor(options: AccessVerifierOptions) {
    this.#options = options;
    this.#requirements = accessRequirements(options.schema, options.baseDn);
  }

  /**
   * Resolves if the access check has succeeded recently; otherwise runs it.
   *
   * @throws DirectoryUnavailableError when the directory is unavailable; with
   *   the reason `accessCheck` when a right or a schema attribute is missing.
   */
  async require(): Promise<void> {
    const now = performance.now();
    if (now - this.#verifiedAt < this.#options.maxAgeMs) {
      return;
    }
    if (this.#failure && now - this.#failure.at < FAILURE_CACHE_MS) {
      throw accessCheckError(this.#failure.message);
    }
    await this.#verifyOnce();
  }

  /**
   * Runs the access check with searches that are sent after this call.
   *
   * @throws DirectoryUnavailableError as {@link require}.
   */
  async verifyNow(): Promise<void> {
    // A running check may have sent its searches before this call.
    await this.#verifying?.catch(() => {});
    await this.#verifyOnce();
  }

  /** Records a failed access check and returns the error to throw. */
  fail(message: string): DirectoryUnavailableError {
    this.#verifiedAt = -Infinity;
    this.#failure = { at: performance.now(), message };
    this.#options.logger.error(`Access check failed: ${message}`);
    for (const listener of this.#listeners) {
      listener(message);
    }
    return accessCheckError(message);
  }

  /** Calls back synchronously when the access check fails. */
  onFailed(listener: (message: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Shares a running check between concurrent callers. */
  async #verifyOnce(): Promise<void> {
    this.#verifying ??= this.#verify().finally(() => {
      this.#verifying = undefined;
    });
    await this.#verifying;
  }

  async #verify(): Promise<void> {
    const { schemaVerifier, maxAgeMs } = this.#options;
    try {
      await schemaVerifier.require();
    } catch (error) {
      throw error instanceof InputError ? this.fail(error.message) : error;
    }
    const [results] = await Promise.all([
      Promise.all(
        this.#requirements.map(requirement =>
          readMissingRights(this.#options, requirement),
        ),
      ),
      this.#verifyBind(),
    ]);
    const missing = results.flatMap(result => result.missing);
    if (missing.length > 0) {
      throw this.fail(
        `The service account may not read and search ${missing.join(', ')}`,
      );
    }
    const absent = results.flatMap(result => result.absentClass ?? []);
    for (const objectClass of absent) {
      this.#logOnce(`There is no ${objectClass} entry yet to verify access to`);
    }
    // Verifies the first entry soon after it is added.
    const validMs =
      absent.length > 0 ? Math.min(ABSENT_MAX_AGE_MS, maxAgeMs) : maxAgeMs;
    this.#verifiedAt = performance.now() - maxAgeMs + validMs;
  }

  /**
   * Binds a new connection: open ones stay bound when the account is disabled.
   */
  async #verifyBind(): Promise<void> {
    const now = performance.now();
    // During a full sync, the access check runs several times a second.
    if (now - this.#boundAt >= BIND_CACHE_MS) {
      await this.#options.searcher.verifyBind();
      this.#boundAt = now;
    }
  }

  #logOnce(message: string): void {
    if (!this.#reported.has(message)) {
      this.#reported.add(message);
      this.#options.logger.info(message);
    }
  }
}

function accessCheckError(message: string): DirectoryUnavailableError {
  return new DirectoryUnavailableError(message, { reason: 'accessCheck' });
}
