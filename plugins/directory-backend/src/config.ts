import { parseEntityRef, stringifyEntityRef } from '@backstage/catalog-model';
import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { directoryPermissions } from '@directory-gateway/backstage-plugin-directory-common';
import { TrustedLocations } from '@directory-gateway/backstage-plugin-directory-node';
import {
  type DirectorySchema,
  type FieldDefinition,
  type GroupField,
  hiddenFieldNames,
  isGroupField,
  isUserField,
  PrincipalSet,
  readPrincipalSet,
  readReplicaConfig,
  type ReplicaConfig,
  schemaPreset,
  type UserField,
} from '@directory-gateway/directory-core';
import { type LdapConfig, readLdapConfig } from '@directory-gateway/ldap';
import type { PortalUsersConfig } from './portalUsers/PortalUserNames';
import { readChangesConfig, type ChangesConfig } from './changes/ChangesConfig';
import {
  readCertificatesConfig,
  type CertificatesConfig,
} from './certificates/CertificatesConfig';
import type { AccessRule } from './access/AccessControl';
import {
  readSessionsConfig,
  type SessionsConfig,
} from './http/session/SessionKeys';

/** The name identifies a record, and the flags determine who may read it. */
const NEVER_HIDDEN: readonly UserField[] = ['username', 'is_private', 'locked'];

/** The names that `directory.access[].operations` accepts. */
const OPERATIONS: ReadonlySet<string> = new Set(
  directoryPermissions.map(({ name }) => name),
);

/**
 * Keys of earlier versions and their replacements. Without the error, the
 * gateway would not behave as configured, or would be less safe.
 */
const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'certificates.accountHolds.revokeDeletedAfter':
    'Certificates are revoked 7 days after the account is deleted: revoke them yourself if they must be invalid earlier.',
  'certificates.defaultProfile':
    'The first one of directory.certificates.profiles is the default.',
  'certificates.embedded.limit':
    'Limit the requests of each user with directory.certificates.limit.requests.',
  'certificates.limit.per':
    'Requests are counted per minute: see directory.certificates.limit.requests.',
  reads:
    'Users and groups are always read from the replica: see directory.replica.',
  'ldap.keptRecords':
    'The replica keeps all records in memory: see directory.replica.',
  'ldap.srv.domain':
    'Servers must be in the domain of directory.ldap.srv.name: list others in directory.ldap.servers.',
  'ownership.maxGroups':
    'Portal tokens contain up to 200 groups: check that users with fewer groups in their tokens may own more.',
  'sessions.maxAge':
    'Sessions expire after 15 minutes: remove directory.sessions if that is too long.',
};

/** Keys of all packages that have no effect any more. */
const IGNORED_KEYS = [
  'catalog.providers.directory.reconciliationInterval',
  'directory.certificates.accountHolds.maxPerHour',
  'directory.certificates.embedded.logFolder',
  'directory.certificates.freeipa.lostResponseSearch',
  'directory.certificates.freeipa.requestTimeout',
  'directory.certificates.reminders.every',
  'directory.certificates.stepCa.requestTimeout',
  'directory.changes.keys',
  'directory.ldap.breaker',
  'directory.ldap.connectTimeout',
  'directory.ldap.idleProbe',
  'directory.ldap.maxConnections',
  'directory.ldap.maxQueued',
  'directory.ldap.operationTimeout',
  'directory.ldap.pipelining',
  'directory.ldap.srv.refresh',
  'directory.pages.dayStrip',
  'kerberos.maxTokenBytes',
];

/** Operations that allow nothing any more. */
const IGNORED_OPERATIONS: ReadonlySet<string> = new Set([
  'directory.history.locks.read',
]);

/** The `directory` block of the configuration, typed and frozen. */
export interface DirectoryConfig {
  readonly ldap: LdapConfig;
  readonly replica: ReplicaConfig;
  readonly schema: DirectorySchema;
  readonly privacy: {
    readonly hidden: ReadonlySet<UserField>;
    readonly trustedReaders: PrincipalSet;
  };
  /** Default: see `AccessControl`. */
  readonly access?: readonly AccessRule[];
  /** `undefined` when certificates are disabled. */
  readonly certificates?: CertificatesConfig;
  readonly changes: ChangesConfig;
  /** `undefined` when sessions are disabled. */
  readonly sessions?: SessionsConfig;
  /** `undefined` when portal users have no directory identity. */
  readonly portalUsers?: PortalUsersConfig;
  /** The catalog locations whose annotations are trusted. */
  readonly trustedLocations: TrustedLocations;
}

/**
 * Reads the `directory` block once, at start. Every key is described in
 * `config.d.ts`.
 *
 * @throws InputError that names an invalid or missing key.
 */
export function readDirectoryConfig(root: Config): DirectoryConfig {
  const config = root.getConfig('directory');
  rejectRemovedKeys(config);
  const portalUsers = readPortalUsers(config.getOptionalConfig('portalUsers'));
  const trustedLocations = TrustedLocations.fromConfig(root);
  if (portalUsers) {
    const { username } = portalUsers;
    const usedBy = `directory.portalUsers.username: ${username}`;
    if (username === 'annotation') {
      trustedLocations.requireForAnnotations({ config: root, usedBy });
    } else {
      // Other sign-in providers may use entity names from the catalog.
      trustedLocations.requireClosedRules({ config: root, usedBy });
    }
  }
  return Object.freeze({
    ldap: readLdapConfig(config.getConfig('ldap')),
    replica: readReplicaConfig(config.getOptionalConfig('replica')),
    schema: readSchema(config),
    privacy: {
      hidden: readHiddenFields(config),
      trustedReaders: readPrincipalSet(
        config.getOptionalConfig('privacy.trustedReaders'),
      ),
    },
    access: config.getOptionalConfigArray('access')?.map(readAccessRule),
    certificates: readCertificatesConfig(config),
    changes: readChangesConfig(config),
    sessions: readSessionsConfig(config),
    portalUsers,
    trustedLocations,
  });
}

/** Returns a warning for each setting that has no effect any more. */
export function findIgnoredSettings(root: Config): readonly string[] {
  const operations = root
    .getOptionalConfigArray('directory.access')
    ?.flatMap(rule => rule.getStringArray('operations'))
    .filter(name => IGNORED_OPERATIONS.has(name));
  return [
    ...IGNORED_KEYS.filter(key => root.has(key)).map(
      key => `${key} has no effect. Remove the key.`,
    ),
    ...[...new Set(operations)].map(
      name => `directory.access: "${name}" has no effect. Remove it.`,
    ),
  ];
}

/** @throws InputError that names the key and its replacement. */
function rejectRemovedKeys(config: Config): void {
  for (const [key, replacement] of Object.entries(REMOVED_KEYS)) {
    if (config.has(key)) {
      throw new InputError(
        `directory.${key} is no longer supported. ${replacement} Remove the key.`,
      );
    }
  }
}

function readSchema(config: Config): DirectorySchema {
  const name = config.getOptionalString('schema') ?? 'fas';
  if (name !== 'fas' && name !== 'freeipa') {
    throw new InputError(
      `directory.schema must be "fas" or "freeipa", not "${name}"`,
    );
  }
  const preset = schemaPreset(name);
  const users: Record<UserField, FieldDefinition> = { ...preset.users };
  const groups: Record<GroupField, FieldDefinition> = { ...preset.groups };
  const attributes = config.getOptionalConfig('attributes');
  for (const field of attributes?.keys() ?? []) {
    const attribute = attributes!.getString(field);
    if (isUserField(field)) {
      users[field] = { ...users[field], attribute };
    } else if (isGroupField(field)) {
      groups[field] = { ...groups[field], attribute };
    } else {
      throw new InputError(`directory.attributes.${field} is not a field`);
    }
  }
  return Object.freeze({ ...preset, users, groups });
}

function readHiddenFields(config: Config): ReadonlySet<UserField> {
  const configured = config.getOptionalStringArray('privacy.hiddenFields');
  if (!configured) {
    return new Set(hiddenFieldNames);
  }
  return new Set(
    configured.map(name => {
      if (!isUserField(name) || NEVER_HIDDEN.includes(name)) {
        throw new InputError(
          `directory.privacy.hiddenFields: "${name}" cannot be hidden`,
        );
      }
      return name;
    }),
  );
}

function readAccessRule(config: Config): AccessRule {
  const operations = config
    .getStringArray('operations')
    .filter(name => !IGNORED_OPERATIONS.has(name));
  const unknown = operations.find(name => !OPERATIONS.has(name));
  if (unknown !== undefined) {
    throw new InputError(
      `directory.access: "${unknown}" is not an operation. Operations are ${[
        ...OPERATIONS,
      ].join(', ')}`,
    );
  }
  return {
    callers: new PrincipalSet({
      principals: config.getOptionalStringArray('principals'),
      groups: config.getOptionalStringArray('groups'),
      portalUsers: config
        .getOptionalStringArray('portalUsers')
        ?.map(readPortalUser),
      services: config.getOptionalStringArray('services'),
    }),
    operations: new Set(operations),
  };
}

function readPortalUser(text: string): string {
  if (text === '*') {
    return text;
  }
  const context = { defaultKind: 'user', defaultNamespace: 'default' };
  let ref = '';
  try {
    ref = stringifyEntityRef(parseEntityRef(text, context));
  } catch {
    // Rejected below.
  }
  if (!ref.startsWith('user:')) {
    throw new InputError(
      `directory.access: "${text}" in portalUsers is not a user such as "user:default/alice"`,
    );
  }
  return ref;
}

function readPortalUsers(
  config: Config | undefined,
): PortalUsersConfig | undefined {
  if (!config) {
    return undefined;
  }
  const username = config.getString('username');
  if (username !== 'entityName' && username !== 'annotation') {
    throw new InputError(
      `directory.portalUsers.username must be "entityName" or "annotation", not "${username}"`,
    );
  }
  return { namespace: config.getString('namespace').toLowerCase(), username };
}
