import { InputError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectorySchema } from '../directory/schema';
import { trustedDn } from './connection/DistinguishedName';
import { textOf, textsOf } from './entryValues';
import { isPresent } from './connection/filters';
import type { LdapSearcher } from './connection/LdapPool';

/** Every server names its schema's entry here (RFC 4512 §5.1). */
const ROOT_DSE = trustedDn('');

/** Where 389 Directory Server, and so FreeIPA, has it. */
const USUAL_SUBENTRY = 'cn=schema';

/** Maximum time in milliseconds that the start waits for the schema. */
const START_WAITS_MS = 2000;

/** What searches name besides the attribute table. */
const NEEDED = [
  'member',
  'memberManager',
  'memberOf',
  'krbPrincipalName',
  'krbPrincipalExpiration',
];

const NEEDED_BY_AGREEMENTS = ['memberUser'];

/**
 * Proves that the directory knows every attribute and object class that it is
 * asked for. It answers a question about an unknown attribute with nothing,
 * which reads as if no user had a value: a spelling mistake in
 * `directory.attributes` would hide a field, or a lock.
 */
export class SchemaVerifier {
  readonly #searcher: LdapSearcher;
  readonly #schema: DirectorySchema;
  #proving: Promise<void> | undefined;

  constructor(options: {
    readonly searcher: LdapSearcher;
    readonly schema: DirectorySchema;
  }) {
    this.#searcher = options.searcher;
    this.#schema = options.schema;
  }

  /**
   * Resolves when it has been proven, once and for all.
   *
   * @throws InputError that names what the directory's schema lacks.
   * @throws DirectoryUnavailableError when the directory cannot be asked.
   */
  async require(): Promise<void> {
    this.#proving ??= this.#prove().catch(error => {
      this.#proving = undefined;
      throw error;
    });
    await this.#proving;
  }

  /**
   * As {@link require}, at start: resolves when the directory is unavailable or
   * has not responded within 2 seconds. The access check requires it again.
   *
   * @throws InputError that names what the directory's schema lacks.
   */
  async requireIfReachable(): Promise<void> {
    const proven = this.require().catch(error => {
      if (error instanceof InputError) {
        throw error;
      }
    });
    const deadline = new AbortController();
    const waited = sleep(START_WAITS_MS, undefined, {
      signal: deadline.signal,
    }).catch(() => {});
    try {
      await Promise.race([proven, waited]);
    } finally {
      deadline.abort();
      proven.catch(() => {});
    }
  }

  async #prove(): Promise<void> {
    const known = await this.#known();
    const missing = neededBy(this.#schema).filter(
      name => !known.has(name.toLowerCase()),
    );
    if (missing.length > 0) {
      throw new InputError(
        `The directory's schema lacks ${missing.join(
          ', ',
        )}: see directory.schema and directory.attributes`,
      );
    }
  }

  /** The names of all attribute types and object classes, in lower case. */
  async #known(): Promise<ReadonlySet<string>> {
    const [root] = await this.#read(ROOT_DSE, ['subschemaSubentry']);
    const subentry =
      (root && textOf(root, 'subschemaSubentry')) ?? USUAL_SUBENTRY;
    const [entry] = await this.#read(trustedDn(subentry), [
      'attributeTypes',
      'objectClasses',
    ]);
    const definitions = entry
      ? [
          ...textsOf(entry, 'attributeTypes'),
          ...textsOf(entry, 'objectClasses'),
        ]
      : [];
    return new Set(
      definitions.flatMap(namesOf).map(name => name.toLowerCase()),
    );
  }

  async #read(base: typeof ROOT_DSE, attributes: readonly string[]) {
    // What is proven serves everybody, so nobody's leaving may end it.
    const { signal } = new AbortController();
    const search = { base, attributes, filter: isPresent('objectClass') };
    const { entries } = await this.#searcher.search(
      { ...search, scope: 'base' },
      { signal },
    );
    return entries;
  }
}

function neededBy(schema: DirectorySchema): readonly string[] {
  const mapped = [
    ...Object.values(schema.users),
    ...Object.values(schema.groups),
  ].flatMap(({ attribute }) => attribute ?? []);
  return [
    schema.userClass,
    schema.groupClass,
    // An option as in `userCertificate;binary` is not part of the type.
    ...mapped.map(attribute => attribute.split(';')[0]),
    ...NEEDED,
    ...(schema.hasAgreements ? NEEDED_BY_AGREEMENTS : []),
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
