import type { LoggerService } from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import { EqualityFilter } from 'ldapts';
import { DirectoryUnavailableError } from '../directory/errors';
import type { DirectorySchema } from '../directory/schema';
import { containersBelow } from './containers';
import type { DistinguishedName } from './DistinguishedName';
import { GetEffectiveRightsControl } from './GetEffectiveRightsControl';
import type { LdapSearcher } from './LdapPool';
import { missingRights } from './missingRights';
import type { SchemaProof } from './SchemaProof';

/** How long a missing right is believed before the directory is asked again. */
const FAILURE_HOLDS_MS = 1000;

interface Requirement {
  readonly container: DistinguishedName;
  readonly objectClass: string;
  readonly attributes: readonly string[];
}

/**
 * Proves that the service account may read and search what privacy and access
 * rest on. An attribute that an access control instruction hides looks absent,
 * also in a negated filter: a private or locked user would read as public and
 * unlocked. Without a proof nothing is served.
 */
export class RightsProof {
  readonly #searcher: LdapSearcher;
  readonly #schemaProof: SchemaProof;
  readonly #bindDn: string;
  readonly #requirements: readonly Requirement[];
  readonly #maxAgeMs: number;
  readonly #logger: LoggerService;
  #provenAt: number | undefined;
  #failedAt: number | undefined;
  #proving: Promise<void> | undefined;

  constructor(options: {
    readonly searcher: LdapSearcher;
    readonly schemaProof: SchemaProof;
    readonly bindDn: string;
    readonly baseDn: string;
    readonly schema: DirectorySchema;
    /** Milliseconds for which a proof holds. */
    readonly maxAgeMs: number;
    readonly logger: LoggerService;
  }) {
    this.#searcher = options.searcher;
    this.#schemaProof = options.schemaProof;
    this.#bindDn = options.bindDn;
    this.#requirements = requirementsOf(options.schema, options.baseDn);
    this.#maxAgeMs = options.maxAgeMs;
    this.#logger = options.logger;
  }

  /**
   * Resolves when the rights have been proven lately, proving them when not.
   *
   * @throws DirectoryUnavailableError when a right is missing or when the
   *   directory cannot be asked.
   */
  async require(context: { readonly signal: AbortSignal }): Promise<void> {
    const now = performance.now();
    if (isWithin(this.#maxAgeMs, this.#provenAt, now)) {
      return;
    }
    if (isWithin(FAILURE_HOLDS_MS, this.#failedAt, now)) {
      throw new DirectoryUnavailableError(
        'The directory or the rights on it are not what is needed',
      );
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

  /** Who comes while the rights are being proven shares that proof. */
  async #proveOnce(): Promise<void> {
    this.#proving ??= this.#prove().finally(() => {
      this.#proving = undefined;
    });
    await this.#proving;
  }

  async #prove(): Promise<void> {
    try {
      await this.#schemaProof.require();
    } catch (error) {
      throw error instanceof InputError ? this.#failed(error.message) : error;
    }
    // A proof serves everybody, so nobody's leaving may end it.
    const signal = new AbortController().signal;
    const missing = await Promise.all(
      this.#requirements.map(requirement => this.#missing(requirement, signal)),
    );
    if (missing.flat().length > 0) {
      const names = missing.flat().join(', ');
      throw this.#failed(
        `The service account may not read and search ${names}`,
      );
    }
    this.#provenAt = performance.now();
  }

  #failed(reason: string): DirectoryUnavailableError {
    this.#provenAt = undefined;
    this.#failedAt = performance.now();
    this.#logger.error(`${reason}: nothing is served until that is mended`);
    return new DirectoryUnavailableError(reason);
  }

  async #missing(
    requirement: Requirement,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { attributes } = requirement;
    const { entries } = await this.#searcher.search(
      {
        base: requirement.container,
        scope: 'one',
        filter: new EqualityFilter({
          attribute: 'objectClass',
          value: requirement.objectClass,
        }),
        attributes,
        sizeLimit: 1,
        control: new GetEffectiveRightsControl({ dn: this.#bindDn }),
      },
      { signal },
    );
    return missingRights(entries[0], attributes);
  }
}

/** The attributes of users on which privacy and access rest. */
export function flagsOf({ users }: DirectorySchema): readonly string[] {
  return [users.is_private.attribute, users.locked.attribute].filter(
    attribute => attribute !== undefined,
  );
}

function requirementsOf(
  schema: DirectorySchema,
  baseDn: string,
): readonly Requirement[] {
  const containers = containersBelow(baseDn);
  return [
    {
      container: containers.users,
      objectClass: schema.userClass,
      attributes: [
        ...flagsOf(schema),
        'krbPrincipalName',
        'krbPrincipalExpiration',
        'memberOf',
      ],
    },
    {
      container: containers.groups,
      objectClass: schema.groupClass,
      attributes: ['member'],
    },
  ];
}

function isWithin(ms: number, since: number | undefined, now: number): boolean {
  return since !== undefined && now - since < ms;
}
