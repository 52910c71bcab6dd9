import type { LoggerService } from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import { EqualityFilter, type Entry } from 'ldapts';
import { DirectoryUnavailableError } from '../directory/errors';
import type { DirectorySchema } from '../directory/schema';
import { containersBelow } from './containers';
import type { DistinguishedName } from './DistinguishedName';
import { textOf } from './entryValues';
import {
  GetEffectiveRightsControl,
  parseAttributeLevelRights,
} from './GetEffectiveRightsControl';
import type { LdapSearcher } from './LdapPool';
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
      this.#requirements.map(async requirement => {
        const rights = await this.#rightsOn(requirement, signal);
        return requirement.attributes.filter(attribute => {
          const granted = rights.get(attribute.toLowerCase()) ?? '';
          return !(granted.includes('r') && granted.includes('s'));
        });
      }),
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

  async #rightsOn(
    requirement: Requirement,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const { entries } = await this.#searcher.search(
      {
        base: requirement.container,
        scope: 'one',
        filter: new EqualityFilter({
          attribute: 'objectClass',
          value: requirement.objectClass,
        }),
        attributes: requirement.attributes,
        sizeLimit: 1,
        control: new GetEffectiveRightsControl({ dn: this.#bindDn }),
      },
      { signal },
    );
    const [entry]: readonly (Entry | undefined)[] = entries;
    return parseAttributeLevelRights(
      (entry && textOf(entry, 'attributeLevelRights')) ?? '',
    );
  }
}

function requirementsOf(
  schema: DirectorySchema,
  baseDn: string,
): readonly Requirement[] {
  const containers = containersBelow(baseDn);
  const flags = [
    schema.users.is_private.attribute,
    schema.users.locked.attribute,
  ].filter(attribute => attribute !== undefined);
  return [
    {
      container: containers.users,
      objectClass: schema.userClass,
      attributes: [
        ...flags,
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
