import {
  ANNOTATION_LOCATION,
  ANNOTATION_ORIGIN_LOCATION,
  parseLocationRef,
  type Entity,
} from '@backstage/catalog-model';
import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { resolve } from 'node:path';

/** Locations set by entity providers: only these can be trusted by prefix. */
const PROVIDER_PREFIX =
  /^(?:(?!file:|url:)|url:(?!https?:|file:))[a-z][a-z0-9+.-]*:(?:.*[:/])?\*$/i;

/** A `catalog.rules` pattern that is limited to one host. */
const ONE_HOST = /^[a-z][a-z0-9+.-]*:\/\/[\w.:-]+\//i;

/**
 * The catalog locations that only administrators can write
 * (`directory.trustedLocations`). The catalog itself sets the origin location
 * of an entity, so an entity cannot claim a different one.
 *
 * @public
 */
export class TrustedLocations {
  readonly #exact: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  private constructor(locations: readonly string[]) {
    this.#exact = new Set(locations.filter(ref => !ref.endsWith('*')));
    this.#prefixes = locations
      .filter(ref => ref.endsWith('*'))
      .map(ref => ref.slice(0, -1));
  }

  /**
   * Reads `directory.trustedLocations`. Default: no location is trusted.
   *
   * @param config - root of the configuration
   * @throws InputError that names the key and the invalid location.
   */
  static fromConfig(config: Config): TrustedLocations {
    const locations =
      config.getOptionalStringArray('directory.trustedLocations') ?? [];
    return new TrustedLocations(locations.map(readLocation));
  }

  /** Whether no location is trusted. */
  get isEmpty(): boolean {
    return this.#exact.size === 0 && this.#prefixes.length === 0;
  }

  /**
   * Returns whether the location and the origin location of an entity are
   * trusted.
   */
  includes({ metadata: { annotations = {} } }: Entity): boolean {
    return [ANNOTATION_ORIGIN_LOCATION, ANNOTATION_LOCATION].every(name => {
      const location = annotations[name];
      return (
        location !== undefined &&
        (this.#exact.has(location) ||
          this.#prefixes.some(prefix => location.startsWith(prefix)))
      );
    });
  }

  /**
   * Checks that annotations of catalog users can be used as identities: there
   * are trusted locations, and `catalog.rules` does not allow users from
   * arbitrary locations.
   *
   * @param options - `config`: root of the configuration; `usedBy`: the key
   *   that maps identities by annotations
   * @throws InputError that names both keys and the required change.
   */
  requireForAnnotations(options: {
    readonly config: Config;
    readonly usedBy: string;
  }): void {
    const { usedBy } = options;
    if (this.isEmpty) {
      throw new InputError(
        `${usedBy} takes identities from annotations of catalog users, but directory.trustedLocations is not set. ` +
          `List the locations that only administrators write there, for example file:/etc/portal/org.yaml`,
      );
    }
    this.requireClosedRules(options);
  }

  /**
   * Checks that `catalog.rules` does not allow users from arbitrary locations.
   *
   * @param options - `config`: root of the configuration; `usedBy`: the key
   *   that takes identities from the catalog
   * @throws InputError that names both keys and the required change.
   */
  requireClosedRules(options: {
    readonly config: Config;
    readonly usedBy: string;
  }): void {
    const { config, usedBy } = options;
    const rule = openUserRule(config);
    if (rule !== undefined) {
      throw new InputError(
        `${usedBy} takes identities from catalog users, but ${rule} allows User entities from any location. ` +
          `Remove User there, and allow it only for the locations in directory.trustedLocations, ` +
          `with catalog.locations[].rules or the locations of a rule`,
      );
    }
  }
}

function readLocation(ref: string): string {
  if (ref.endsWith('*')) {
    if (!PROVIDER_PREFIX.test(ref)) {
      throw new InputError(
        `directory.trustedLocations: "${ref}" is not allowed; only the locations of an entity provider can be named by a prefix, for example directory:default/*`,
      );
    }
    return ref;
  }
  try {
    const { type, target } = parseLocationRef(ref);
    // Resolved like the files in catalog.locations.
    return type === 'file' ? `file:${resolve(target)}` : ref;
  } catch {
    throw new InputError(
      `directory.trustedLocations: "${ref}" is not a location such as file:/etc/portal/org.yaml`,
    );
  }
}

/**
 * Returns the key of the first rule that allows users from locations that any
 * user can register. The default rules of the catalog do not allow users.
 */
function openUserRule(config: Config): string | undefined {
  const rules = config.getOptionalConfigArray('catalog.rules') ?? [];
  const index = rules.findIndex(
    rule =>
      allowedKinds(rule).includes('user') &&
      (rule.getOptionalConfigArray('locations')?.some(isOpen) ?? true),
  );
  return index < 0 ? undefined : `catalog.rules[${index}]`;
}

function allowedKinds(rule: Config): readonly string[] {
  const allow: unknown = rule.get('allow');
  return (Array.isArray(allow) ? allow : []).map(entry =>
    String(typeof entry === 'string' ? entry : entry?.kind).toLowerCase(),
  );
}

/**
 * Whether users can register the locations: only those of type `url` without a
 * fixed target or host.
 */
function isOpen(location: Config): boolean {
  if (location.getString('type') !== 'url' || location.has('exact')) {
    return false;
  }
  return !ONE_HOST.test(location.getOptionalString('pattern') ?? '');
}
