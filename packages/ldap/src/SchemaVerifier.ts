import { InputError } from '@backstage/errors';
import type { Entry } from 'ldapts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectorySchema } from '@directory-gateway/directory-core';
import { trustedDn } from './connection/DistinguishedName';
import { isPresent } from './connection/filters';
import type { LdapSearcher } from './connection/LdapPool';
import { textOf, textsOf } from './entryValues';

/** Schema entry of 389 Directory Server. */
const DEFAULT_SUBENTRY = 'cn=schema';

/** Attributes of the schema entry with the definitions. */
const DEFINITIONS = ['attributeTypes', 'objectClasses'];

/** Maximum time in milliseconds for which the start waits for the schema. */
const START_WAIT_MS = 2000;

/** Attributes used in searches that are not in the attribute table. */
const REQUIRED = [
  'member',
  'memberManager',
  'memberOf',
  'krbPrincipalName',
  'krbPrincipalExpiration',
];

const REQUIRED_FOR_AGREEMENTS = ['memberUser'];

/**
 * Verifies that the directory's schema has all attributes and object classes
 * that the gateway uses. A search for an unknown attribute returns nothing, as
 * if no user had a value: a spelling mistake in `directory.attributes` would
 * hide a field or a lock.
 */
export class SchemaVerifier {
  readonly #searcher: LdapSearcher;
  readonly #schema: DirectorySchema;
  #verifying: Promise<void> | undefined;

  constructor(options: {
    readonly searcher: LdapSearcher;
    readonly schema: DirectorySchema;
  }) {
    this.#searcher = options.searcher;
    this.#schema = options.schema;
  }

  /**
   * Resolves when the schema has been verified, which happens once.
   *
   * @throws InputError that names what the schema lacks.
   * @throws DirectoryUnavailableError when the directory is unavailable.
   */
  async require(): Promise<void> {
    this.#verifying ??= this.#verify().catch(error => {
      this.#verifying = undefined;
      throw error;
    });
    await this.#verifying;
  }

  /**
   * Like {@link require}, but also resolves when the directory is unavailable
   * or has not responded within 2 seconds. The access check then repeats the
   * verification.
   *
   * @throws InputError that names what the schema lacks.
   */
  async requireIfReachable(): Promise<void> {
    const verified = this.require().catch(error => {
      if (error instanceof InputError) {
        throw error;
      }
    });
    verified.catch(() => {});
    await Promise.race([
      verified,
      sleep(START_WAIT_MS, undefined, { ref: false }),
    ]);
  }

  /**
   * Returns the names that the schema lacks.
   *
   * @throws DirectoryUnavailableError when the directory is unavailable.
   */
  async findMissing(): Promise<readonly string[]> {
    // The root DSE has the DN of the schema entry (RFC 4512 §5.1).
    const root = await this.#read('', ['subschemaSubentry']);
    const schema = await this.#read(
      (root && textOf(root, 'subschemaSubentry')) ?? DEFAULT_SUBENTRY,
      DEFINITIONS,
    );
    const known = new Set(
      DEFINITIONS.flatMap(kind => (schema ? textsOf(schema, kind) : []))
        .flatMap(namesOf)
        .map(name => name.toLowerCase()),
    );
    return requiredNames(this.#schema).filter(
      name => !known.has(name.toLowerCase()),
    );
  }

  async #verify(): Promise<void> {
    const missing = await this.findMissing();
    if (missing.length > 0) {
      throw new InputError(
        `The directory's schema lacks ${missing.join(
          ', ',
        )}: see directory.schema and directory.attributes`,
      );
    }
  }

  async #read(
    base: string,
    attributes: readonly string[],
  ): Promise<Entry | undefined> {
    const { entries } = await this.#searcher.search({
      base: trustedDn(base),
      scope: 'base',
      filter: isPresent('objectClass'),
      attributes,
    });
    return entries[0];
  }
}

function requiredNames(schema: DirectorySchema): readonly string[] {
  const mapped = [
    ...Object.values(schema.users),
    ...Object.values(schema.groups),
  ].flatMap(({ attribute }) => attribute ?? []);
  return [
    schema.userClass,
    schema.groupClass,
    // Omits options, as in `userCertificate;binary`.
    ...mapped.map(attribute => attribute.split(';')[0]),
    ...REQUIRED,
    ...(schema.hasAgreements ? REQUIRED_FOR_AGREEMENTS : []),
  ];
}

/** `NAME 'cn'` or `NAME ( 'cn' 'commonName' )` of a definition (RFC 4512 §4.1). */
function namesOf(definition: string): readonly string[] {
  const [, one, several] =
    /\bNAME\s+(?:'([^']*)'|\(([^)]*)\))/.exec(definition) ?? [];
  return one === undefined
    ? [...(several ?? '').matchAll(/'([^']*)'/g)].map(match => match[1])
    : [one];
}
