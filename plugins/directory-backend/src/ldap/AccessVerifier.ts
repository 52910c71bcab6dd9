import type { LoggerService } from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import type { Entry } from 'ldapts';
import type { RequestContext } from '../directory/Directory';
import { DirectoryUnavailableError } from '../directory/errors';
import type { DirectorySchema } from '../directory/schema';
import {
  containersBelow,
  type DistinguishedName,
} from './connection/DistinguishedName';
import { isA, isPresent } from './connection/filters';
import { type LdapSearcher, NEVER_ABORTED } from './connection/LdapPool';
import { GetEffectiveRightsControl, missingRights } from './effectiveRights';
import type { SchemaVerifier } from './SchemaVerifier';

/** Milliseconds for which a missing right is cached. */
const FAILURE_CACHE_MS = 1000;

/** Milliseconds for which a successful bind of a new connection is cached. */
const BIND_CACHE_MS = 1000;

/** Maximum age in milliseconds of a check without an entry of each class. */
const ABSENT_MAX_AGE_MS = 10_000;

interface ClassRequirement {
  readonly objectClass: string;
  readonly attributes: readonly string[];
}

interface Requirement extends ClassRequirement {
  readonly container: DistinguishedName;
  /** Verified while there is no entry of the object class. */
  readonly fallback: ClassRequirement;
}

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
 * attributes that privacy and authentication depend on. An attribute that an
 * access control instruction hides seems absent, also in a negated filter: a
 * private or locked user would read as public and unlocked. Nothing is served
 * before the check succeeds.
 */
export class AccessVerifier {
  readonly #options: AccessVerifierOptions;
  readonly #requirements: readonly Requirement[];
  readonly #listeners = new Set<(message: string) => void>();
  readonly #reported = new Set<string>();
  #verifiedAt = -Infinity;
  #failure: { readonly at: number; readonly message: string } | undefined;
  #boundAt = -Infinity;
  #verifying: Promise<void> | undefined;

  constructor(options: AccessVerifierOptions) {
    this.#options = options;
    this.#requirements = requirementsOf(options.schema, options.baseDn);
  }

  /**
   * Resolves when the access check has succeeded recently; runs it otherwise.
   *
   * @throws DirectoryUnavailableError when the directory is unavailable; with
   *   the reason `accessCheck` when a right or a schema attribute is missing.
   */
  async require(context: RequestContext): Promise<void> {
    const now = performance.now();
    if (now - this.#verifiedAt < this.#options.maxAgeMs) {
      return;
    }
    if (this.#failure && now - this.#failure.at < FAILURE_CACHE_MS) {
      throw accessCheckError(this.#failure.message);
    }
    context.signal.throwIfAborted();
    await this.#verifyOnce();
  }

  /**
   * Runs the access check, with searches that are sent after this call.
   *
   * @throws DirectoryUnavailableError as {@link require}.
   */
  async verifyNow(): Promise<void> {
    // The searches of a running check may have been sent before.
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

  /** Concurrent callers share a check. */
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
        this.#requirements.map(requirement => this.#readRights(requirement)),
      ),
      this.#verifyBind(),
    ]);
    const missing = results.flatMap(result => result.missing);
    if (missing.length > 0) {
      throw this.fail(
        `The service account may not read and search ${missing.join(', ')}`,
      );
    }
    await this.#checkNotifications();
    const absent = results.flatMap(result => result.absentClass ?? []);
    for (const objectClass of absent) {
      this.#logOnce(
        `There is no ${objectClass} entry yet to verify the access to`,
      );
    }
    // The first entry is verified soon after it was added.
    const validMs =
      absent.length > 0 ? Math.min(ABSENT_MAX_AGE_MS, maxAgeMs) : maxAgeMs;
    this.#verifiedAt = performance.now() - maxAgeMs + validMs;
  }

  /** Returns the missing rights, and the object class if it has no entry. */
  async #readRights({
    container,
    objectClass,
    attributes,
    fallback,
  }: Requirement): Promise<{
    readonly missing: readonly string[];
    readonly absentClass?: string;
  }> {
    const entry = await this.#findOne(container, { objectClass, attributes });
    if (entry) {
      return { missing: missingRights(entry, attributes) };
    }
    return {
      missing: missingRights(
        await this.#findOne(container, fallback),
        fallback.attributes,
      ),
      absentClass: objectClass,
    };
  }

  async #findOne(
    container: DistinguishedName,
    { objectClass, attributes }: ClassRequirement,
  ): Promise<Entry | undefined> {
    const { searcher, bindDn } = this.#options;
    const { entries } = await searcher.search(
      {
        base: container,
        scope: 'one',
        filter: isA(objectClass),
        attributes,
        sizeLimit: 1,
        control: new GetEffectiveRightsControl(bindDn),
      },
      NEVER_ABORTED,
    );
    return entries[0];
  }

  /** Open connections stay bound when the account is disabled. */
  async #verifyBind(): Promise<void> {
    const now = performance.now();
    // During a full sync, the access check runs several times a second.
    if (now - this.#boundAt >= BIND_CACHE_MS) {
      await this.#options.searcher.verifyBind();
      this.#boundAt = now;
    }
  }

  /**
   * Logs once when the account may not read preserved users: 389 Directory
   * Server then sends no notification when one is moved there.
   */
  async #checkNotifications(): Promise<void> {
    const { searcher, bindDn, baseDn } = this.#options;
    const { deletedUsers } = containersBelow(baseDn);
    const { entries } = await searcher
      .search(
        {
          base: deletedUsers,
          scope: 'base',
          filter: isPresent('objectClass'),
          // The server adds a template of such an entry to the result.
          attributes: ['uid@posixAccount'],
          control: new GetEffectiveRightsControl(bindDn),
        },
        NEVER_ABORTED,
      )
      .catch(() => ({ entries: [] }));
    const isMissing = (entry: Entry) =>
      missingRights(entry, ['uid']).length > 0;
    if (entries.length > 0 && entries.every(isMissing)) {
      this.#logOnce(
        `The directory sends no notification when a user is preserved, so the replica finds preserved users by comparing keys. To receive notifications, run: ipa permission-add 'Read names of preserved users' --bindtype=all --right={read,search,compare} --attrs={objectclass,uid} --subtree='${deletedUsers}'`,
      );
    }
  }

  #logOnce(message: string): void {
    if (!this.#reported.has(message)) {
      this.#reported.add(message);
      this.#options.logger.info(message);
    }
  }
}

/** Returns the attributes of users that privacy and locks depend on. */
export function accessFlags({ users }: DirectorySchema): readonly string[] {
  return [users.is_private.attribute, users.locked.attribute].filter(
    attribute => attribute !== undefined,
  );
}

function accessCheckError(message: string): DirectoryUnavailableError {
  return new DirectoryUnavailableError(message, { reason: 'accessCheck' });
}

function requirementsOf(
  schema: DirectorySchema,
  baseDn: string,
): readonly Requirement[] {
  const { users, groups } = containersBelow(baseDn);
  const locked = schema.users.locked.attribute;
  const accountAttributes = [
    'krbPrincipalName',
    'krbPrincipalExpiration',
    'memberOf',
    ...(locked ? [locked] : []),
  ];
  const attributes = ['member'];
  return [
    {
      container: users,
      objectClass: schema.userClass,
      attributes: [...new Set([...accessFlags(schema), ...accountAttributes])],
      // Every FreeIPA server has the user `admin` and some groups.
      fallback: { objectClass: 'posixAccount', attributes: accountAttributes },
    },
    {
      container: groups,
      objectClass: schema.groupClass,
      attributes,
      fallback: { objectClass: 'ipaUserGroup', attributes },
    },
  ];
}
