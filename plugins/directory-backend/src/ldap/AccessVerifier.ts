import type { LoggerService } from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import type { Entry } from 'ldapts';
import { DirectoryUnavailableError } from '../directory/errors';
import type { DirectorySchema } from '../directory/schema';
import { containersBelow } from './connection/DistinguishedName';
import type { DistinguishedName } from './connection/DistinguishedName';
import { isA, isPresent } from './connection/filters';
import { GetEffectiveRightsControl, missingRights } from './effectiveRights';
import type { LdapSearcher } from './connection/LdapPool';
import type { SchemaVerifier } from './SchemaVerifier';

/** How long a missing right is assumed before it is verified again. */
const FAILURE_HOLDS_MS = 1000;

/** Milliseconds for which a new connection's bind is not repeated. */
const BIND_HOLDS_MS = 1000;

/** The same for a class without an entry to verify the rights on. */
const ABSENT_HOLDS_MS = 10_000;

interface Requirement {
  readonly container: DistinguishedName;
  readonly objectClass: string;
  readonly attributes: readonly string[];
  /** What is verified while there is no entry of the class. */
  readonly otherwise?: Omit<Requirement, 'container' | 'otherwise'>;
}

/**
 * Proves that the service account may read and search what privacy and access
 * rest on. An attribute that an access control instruction hides looks absent,
 * also in a negated filter: a private or locked user would read as public and
 * unlocked. Without a proof nothing is served.
 */
export class AccessVerifier {
  readonly #searcher: LdapSearcher;
  readonly #schemaVerifier: SchemaVerifier;
  readonly #bindDn: string;
  readonly #requirements: readonly Requirement[];
  readonly #maxAgeMs: number;
  readonly #logger: LoggerService;
  readonly #deletedUsers: DistinguishedName;
  readonly #listeners = new Set<(message: string) => void>();
  #reported = new Set<string>();
  #provenAt: number | undefined;
  #failure: { readonly at: number; readonly message: string } | undefined;
  #boundAt: number | undefined;
  #proving: Promise<void> | undefined;

  constructor(options: {
    readonly searcher: LdapSearcher;
    readonly schemaVerifier: SchemaVerifier;
    readonly bindDn: string;
    readonly baseDn: string;
    readonly schema: DirectorySchema;
    /** Milliseconds for which a proof holds. */
    readonly maxAgeMs: number;
    readonly logger: LoggerService;
  }) {
    this.#searcher = options.searcher;
    this.#schemaVerifier = options.schemaVerifier;
    this.#bindDn = options.bindDn;
    this.#requirements = requirementsOf(options.schema, options.baseDn);
    this.#maxAgeMs = options.maxAgeMs;
    this.#logger = options.logger;
    this.#deletedUsers = containersBelow(options.baseDn).deletedUsers;
  }

  /**
   * Resolves when the rights have been proven lately, proving them when not.
   *
   * @throws DirectoryUnavailableError when the directory is unavailable; with
   *   the reason `accessCheck` when a right or a schema attribute is missing.
   */
  async require(context: { readonly signal: AbortSignal }): Promise<void> {
    const now = performance.now();
    if (isWithin(this.#maxAgeMs, this.#provenAt, now)) {
      return;
    }
    if (this.#failure && isWithin(FAILURE_HOLDS_MS, this.#failure.at, now)) {
      throw new DirectoryUnavailableError(this.#failure.message, {
        reason: 'accessCheck',
      });
    }
    context.signal.throwIfAborted();
    await this.#proveOnce();
  }

  /**
   * Proves the rights as they are from now on, however lately that was done.
   *
   * @throws DirectoryUnavailableError as {@link require}.
   */
  async renew(): Promise<void> {
    // What another caller waits for may have been asked before.
    await this.#proving?.catch(() => {});
    await this.#proveOnce();
  }

  /**
   * Records that the access check failed for an entry, and returns the error to
   * throw.
   */
  fail(message: string): DirectoryUnavailableError {
    this.#provenAt = undefined;
    this.#failure = { at: performance.now(), message };
    this.#logger.error(`Access check failed: ${message}`);
    for (const listener of this.#listeners) {
      listener(message);
    }
    return new DirectoryUnavailableError(message, { reason: 'accessCheck' });
  }

  /** Calls back when the access check fails, in the same turn. */
  onFailed(listener: (message: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Who comes while the rights are being proven shares that proof. */
  async #proveOnce(): Promise<void> {
    this.#proving ??= this.#prove().finally(() => {
      this.#proving = undefined;
    });
    await this.#proving;
  }

  async #prove(): Promise<void> {
    try {
      await this.#schemaVerifier.require();
    } catch (error) {
      throw error instanceof InputError ? this.fail(error.message) : error;
    }
    // A proof serves everybody, so nobody's leaving may end it.
    const signal = new AbortController().signal;
    const [found] = await Promise.all([
      Promise.all(
        this.#requirements.map(requirement =>
          this.#verify(requirement, signal),
        ),
      ),
      this.#verifyBind(),
    ]);
    const missing = found.flatMap(result => result.missing);
    if (missing.length > 0) {
      throw this.fail(
        `The service account may not read and search ${missing.join(', ')}`,
      );
    }
    await this.#verifyNotifications(signal);
    const absent = found.flatMap(result => result.absentClass ?? []);
    for (const objectClass of absent) {
      this.#reportOnce(
        `There is no ${objectClass} entry yet to verify rights on`,
      );
    }
    // The first such entry is verified soon after it appears.
    const holdsMs =
      absent.length > 0
        ? Math.min(ABSENT_HOLDS_MS, this.#maxAgeMs)
        : this.#maxAgeMs;
    this.#provenAt = performance.now() - this.#maxAgeMs + holdsMs;
  }

  /**
   * Reports once when the account may not read preserved users: 389 Directory
   * Server then sends no notification when one is moved there.
   */
  async #verifyNotifications(signal: AbortSignal): Promise<void> {
    const { entries } = await this.#searcher
      .search(
        {
          base: this.#deletedUsers,
          scope: 'base',
          filter: isPresent('objectClass'),
          // The server adds a template of such an entry.
          attributes: ['uid@posixAccount'],
          control: new GetEffectiveRightsControl({ dn: this.#bindDn }),
        },
        { signal },
      )
      // Nothing depends on the result.
      .catch(() => ({ entries: [] }));
    const isMissing = (entry: Entry) =>
      missingRights(entry, ['uid']).length > 0;
    if (entries.length > 0 && entries.every(isMissing)) {
      this.#reportOnce(
        `The directory sends no notification when a user is preserved, so the replica finds preserved users by comparing keys. To receive notifications, run: ipa permission-add 'Read names of preserved users' --bindtype=all --right={read,search,compare} --attrs={objectclass,uid} --subtree='${
          this.#deletedUsers
        }'`,
      );
    }
  }

  #reportOnce(message: string): void {
    if (!this.#reported.has(message)) {
      this.#reported.add(message);
      this.#logger.info(message);
    }
  }

  async #verifyBind(): Promise<void> {
    const now = performance.now();
    // During a full sync, access is checked several times a second.
    if (!isWithin(BIND_HOLDS_MS, this.#boundAt, now)) {
      await this.#searcher.verifyBind();
      this.#boundAt = now;
    }
  }

  /** The attributes without the rights, and the class if it has no entry. */
  async #verify(
    requirement: Requirement,
    signal: AbortSignal,
  ): Promise<{
    readonly missing: readonly string[];
    readonly absentClass?: string;
  }> {
    const { container, objectClass, attributes, otherwise } = requirement;
    const { entries } = await this.#searcher.search(
      {
        base: container,
        scope: 'one',
        filter: isA(objectClass),
        attributes,
        sizeLimit: 1,
        control: new GetEffectiveRightsControl({ dn: this.#bindDn }),
      },
      { signal },
    );
    if (entries.length === 0 && otherwise) {
      const { missing } = await this.#verify(
        { ...otherwise, container },
        signal,
      );
      return { missing, absentClass: objectClass };
    }
    return { missing: missingRights(entries[0], attributes) };
  }
}

/** The attributes of users on which privacy and access rest. */
export function accessFlags({ users }: DirectorySchema): readonly string[] {
  return [users.is_private.attribute, users.locked.attribute].filter(
    attribute => attribute !== undefined,
  );
}

function requirementsOf(
  schema: DirectorySchema,
  baseDn: string,
): readonly Requirement[] {
  const containers = containersBelow(baseDn);
  const ofAccounts = [
    'krbPrincipalName',
    'krbPrincipalExpiration',
    'memberOf',
    ...(schema.users.locked.attribute ? [schema.users.locked.attribute] : []),
  ];
  return [
    {
      container: containers.users,
      objectClass: schema.userClass,
      attributes: [...new Set([...accessFlags(schema), ...ofAccounts])],
      // Every FreeIPA has the user `admin`, and groups of its own.
      otherwise: { objectClass: 'posixAccount', attributes: ofAccounts },
    },
    {
      container: containers.groups,
      objectClass: schema.groupClass,
      attributes: ['member'],
      otherwise: { objectClass: 'ipaUserGroup', attributes: ['member'] },
    },
  ];
}

function isWithin(ms: number, since: number | undefined, now: number): boolean {
  return since !== undefined && now - since < ms;
}
