import { resolvePackagePath } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  finding,
  requireSecureTransport,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  readKerberosConfig,
  REQUIRED_HEADER_BYTES as required,
} from '@directory-gateway/kerberos';
import { readdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { withDeadline } from '@directory-gateway/ldap';
import { SecretKeys, type SecretSource } from '../secretKeys';
import { RECORDS } from '../certificates/records/CertificateRecords';
import { migrationsTable } from '../openDatabase';
import { isInMemory, type Portal } from './Portal';
import { CONFIGURATION_FIX } from './runChecks';

const POLICY_MODULE =
  '@directory-gateway/backstage-plugin-permission-backend-module-directory';
const ALLOW_ALL_MODULE =
  '@backstage/plugin-permission-backend-module-allow-all-policy';
const SIGN_IN_MODULE =
  '@directory-gateway/backstage-plugin-auth-backend-module-kerberos-provider';
const AUTHORITY_MODULES: Readonly<Record<string, string>> = {
  embedded:
    '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca',
  freeipa:
    '@directory-gateway/backstage-plugin-directory-backend-module-freeipa-ca',
  'step-ca':
    '@directory-gateway/backstage-plugin-directory-backend-module-step-ca',
};

/** Checks that the configuration can be read; all others depend on it. */
export function configurationCheck(portal: Portal): DoctorCheck {
  return {
    id: 'configuration',
    async run() {
      if (portal.configError !== undefined) {
        return finding.fail(portal.configError, CONFIGURATION_FIX);
      }
      try {
        readKerberosConfig(portal.config);
        const { ldap } = portal.directory;
        const servers =
          ldap.servers.kind === 'urls'
            ? ldap.servers.urls.join(', ')
            : ldap.servers.name;
        return finding.ok(`Valid; directory ${ldap.baseDn} on ${servers}`);
      } catch (error) {
        return finding.fail(messageOf(error), CONFIGURATION_FIX);
      }
    },
  };
}

/** Checks of the process, its configuration, permissions and database. */
export function portalChecks(portal: Portal): readonly DoctorCheck[] {
  return [
    { id: 'node-version', run: async () => checkNode(process.versions.node) },
    { id: 'base-url', run: async () => checkBaseUrl(portal) },
    { id: 'header-limit', run: async () => checkHeaderLimit(portal) },
    { id: 'permission-policy', run: async () => checkPolicy(portal) },
    { id: 'kerberos-sign-in', run: async () => checkSignIn(portal) },
    { id: 'certificate-authority', run: async () => checkAuthority(portal) },
    { id: 'session-keys', run: () => checkSessionKeys(portal) },
    { id: 'database', run: () => checkDatabase(portal) },
    {
      id: 'migrations',
      after: ['database'],
      run: () => checkMigrations(portal),
    },
    {
      id: 'renewals-by-key',
      after: ['migrations'],
      run: () => checkRenewals(portal),
    },
  ];
}

/** Releases that the packages support (`engines` in package.json). */
export function checkNode(version: string): DoctorFinding {
  const [major, minor] = version.split('.').map(Number);
  return major === 24 || (major === 22 && minor >= 19)
    ? finding.ok(`Node.js ${version}`)
    : finding.fail(
        `Node.js ${version} is not supported`,
        'run the backend with Node.js 24, or 22.19 or later',
      );
}

function checkBaseUrl({ baseUrl }: Portal): DoctorFinding {
  try {
    requireSecureTransport(baseUrl.href, 'backend.baseUrl');
  } catch (error) {
    return finding.fail(
      messageOf(error),
      'serve the portal over TLS and set app.baseUrl and backend.baseUrl to its https:// URL',
    );
  }
  return isIP(baseUrl.hostname.replace(/^\[|\]$/g, ''))
    ? finding.fail(
        `backend.baseUrl names an IP address, but Kerberos tickets are issued for host names`,
        'set backend.baseUrl to the host name that users enter',
      )
    : finding.ok(baseUrl.origin);
}

function checkHeaderLimit(portal: Portal): DoctorFinding {
  const [, fromOption] =
    /--max-http-header-size=(\d+)/.exec(
      `${portal.env.NODE_OPTIONS ?? ''} ${process.execArgv.join(' ')}`,
    ) ?? [];
  return portal.hasPackage('@directory-gateway/root-http-router') ||
    portal.mentions('raiseHeaderLimit') ||
    Number(fromOption) >= required
    ? finding.ok(`Headers of ${required} bytes are accepted`)
    : finding.warn(
        `Requests with more than 16384 bytes of headers get 431, but a Kerberos ticket may need ${required}`,
        `add @directory-gateway/root-http-router to the backend, or start it with NODE_OPTIONS=--max-http-header-size=${required}`,
      );
}

function checkPolicy(portal: Portal): DoctorFinding {
  const install = `yarn --cwd packages/backend add ${POLICY_MODULE}, and backend.add(import('${POLICY_MODULE}')) in packages/backend/src/index.ts`;
  if (portal.config.getOptionalBoolean('permission.enabled') !== true) {
    return finding.fail(
      'permission.enabled is not true, so Backstage allows all users to do everything',
      'set permission.enabled: true',
    );
  }
  if (portal.hasPackage(ALLOW_ALL_MODULE)) {
    return finding.fail(
      `The backend loads ${ALLOW_ALL_MODULE}, which allows all users and guests to do everything`,
      `remove backend.add(import('${ALLOW_ALL_MODULE}')) from packages/backend/src/index.ts`,
      install,
    );
  }
  return portal.hasPackage(POLICY_MODULE)
    ? finding.ok('The policy of the directory gateway is installed')
    : finding.skip(
        'The portal has its own policy, which must decide about the permissions directory.*, catalog.location.create and catalog.entity.delete',
      );
}

function checkSignIn(portal: Portal): DoctorFinding {
  const isConfigured = portal.config.has('auth.providers.kerberos');
  if (!portal.hasPackage(SIGN_IN_MODULE)) {
    return isConfigured
      ? finding.fail(
          'auth.providers.kerberos is configured, but its module is not installed',
          `yarn --cwd packages/backend add ${SIGN_IN_MODULE}, and backend.add(import('${SIGN_IN_MODULE}')) in packages/backend/src/index.ts`,
        )
      : finding.skip('Kerberos sign-in is not configured');
  }
  const resolvers = portal.config.getOptionalConfigArray(
    'auth.providers.kerberos.signIn.resolvers',
  );
  return resolvers?.length
    ? finding.ok(
        `Resolvers: ${resolvers
          .map(resolver => resolver.getString('resolver'))
          .join(', ')}`,
      )
    : finding.warn(
        'The module for Kerberos sign-in is installed, but has no resolver',
        'set auth.providers.kerberos.signIn.resolvers: [{ resolver: directoryUser }]',
      );
}

function checkAuthority(portal: Portal): DoctorFinding {
  const { certificates } = portal.directory;
  if (!certificates) {
    return finding.skip('directory.certificates is not configured');
  }
  const { authority } = certificates;
  const module = AUTHORITY_MODULES[authority];
  if (module !== undefined && !portal.hasPackage(module)) {
    return finding.fail(
      `directory.certificates.authority is ${authority}, but its module is not installed`,
      `yarn --cwd packages/backend add ${module}, and backend.add(import('${module}')) in packages/backend/src/index.ts`,
    );
  }
  return module !== undefined &&
    !portal.config.has(`directory.certificates.${authority}`)
    ? finding.fail(
        `directory.certificates.authority is ${authority}, but directory.certificates.${authority} is missing`,
        `add the block directory.certificates.${authority}`,
      )
    : finding.ok(authority);
}

async function checkSessionKeys(portal: Portal): Promise<DoctorFinding> {
  const { sessions } = portal.directory;
  if (!sessions) {
    return finding.skip('directory.sessions.enabled is false');
  }
  if (sessions.secrets) {
    return checkSecrets(sessions.secrets);
  }
  return hasSharedStore(portal)
    ? finding.warn(
        'Each process has its own random session key, but a store that several processes can share is configured',
        `${createKeyFile(
          '/etc/portal/session-key',
        )}, the same file for each process`,
        'set directory.sessions.keys: [{ secretFile: /etc/portal/session-key }]',
      )
    : finding.ok('A random key: sessions end when the backend restarts');
}

async function checkSecrets(
  secrets: readonly SecretSource[],
): Promise<DoctorFinding> {
  try {
    await SecretKeys.load(secrets, 'doctor');
    return finding.ok(`Keys: ${secrets.length}`);
  } catch (error) {
    const message = messageOf(error);
    const secret = secrets.find(({ key }) => message.includes(key));
    const path = secret?.kind === 'file' ? secret.path : undefined;
    return finding.fail(
      message.replace(/: (?:run chmod|openssl).*$/, ''),
      path === undefined
        ? 'openssl rand -base64 32'
        : `${createKeyFile(path)}; chown it to the portal's user`,
    );
  }
}

/** The command that creates a file with a random key. */
function createKeyFile(path: string): string {
  return `openssl rand -base64 32 | install -m 600 /dev/stdin ${path}`;
}

/** Whether the cache or the rate limit is shared between processes. */
function hasSharedStore({ config }: Portal): boolean {
  return ['backend.cache.store', 'backend.rateLimit.store.type'].some(
    key => !['memory', undefined].includes(config.getOptionalString(key)),
  );
}

/** Error codes of PostgreSQL and SQLite. Their messages may contain secrets. */
const DATABASE_ERRORS: Readonly<Record<string, readonly [string, string]>> = {
  '28P01': [
    'rejects the password',
    'correct backend.database.connection.user and password',
  ],
  '28000': [
    'rejects the user',
    'correct backend.database.connection.user, and pg_hba.conf on the server',
  ],
  '42501': [
    'denies a right to the user',
    'grant the user of backend.database.connection the right to its database',
  ],
  SQLITE_CANTOPEN: [
    'cannot be opened',
    "create the folder of backend.database.connection, writable by the portal's user",
  ],
};

async function checkDatabase(portal: Portal): Promise<DoctorFinding> {
  if (isInMemory(portal.config)) {
    return finding.warn(
      'The database is in memory: certificates, revocations and the mass-deletion guard are lost on restart',
      'set backend.database to PostgreSQL (client: pg), see app-config.production.yaml',
    );
  }
  try {
    const database = await withDeadline(portal.database(), {
      ms: portal.responseMs,
      error: () => Object.assign(new Error(), { code: 'no response' }),
    });
    return database
      ? finding.ok('Reachable')
      : finding.ok('Does not exist yet; the backend creates it when it starts');
  } catch (error) {
    const code = codeOf(error);
    const [message, fix] = DATABASE_ERRORS[code] ?? [
      'cannot be reached',
      'check backend.database.connection.host and port, and that PostgreSQL runs: systemctl status postgresql',
    ];
    return finding.fail(`The database ${message} (${code})`, fix);
  }
}

/** A code of Node.js, SQLite or PostgreSQL; not any text of the server. */
function codeOf(error: unknown): string {
  const code = isError(error) ? String(error.code ?? error.name) : '';
  return /^(?:[A-Z][A-Z_]+|[0-9A-Z]{5}|no response)$/.test(code)
    ? code
    : 'unknown error';
}

async function checkMigrations(portal: Portal): Promise<DoctorFinding> {
  const database = await portal.database();
  if (!database || !(await database.schema.hasTable(migrationsTable))) {
    return finding.skip('The backend has not created its tables yet');
  }
  const applied = await database(migrationsTable).pluck('name');
  const folder = resolvePackagePath(
    '@directory-gateway/backstage-plugin-directory-backend',
    'migrations',
  );
  const present = (await readdir(folder)).filter(name => name.endsWith('.js'));
  const unknown = applied.filter(name => !present.includes(name));
  const pending = present.filter(name => !applied.includes(name));
  if (unknown.length > 0) {
    return finding.fail(
      `The database was migrated by a later release (${unknown.join(', ')})`,
      'install the release that was used before, or restore the database from a backup',
    );
  }
  return finding.ok(
    pending.length > 0
      ? `Pending, applied at the next start: ${pending.join(', ')}`
      : `Applied: ${applied.length}`,
  );
}

/** Lists certificates that 0.2.0 renewed by proof of their key. */
async function checkRenewals(portal: Portal): Promise<DoctorFinding> {
  const database = await portal.database();
  if (!database || !(await database.schema.hasTable(RECORDS))) {
    return finding.skip('The backend has not created its tables yet');
  }
  const certificates: { serial_number: string; username: string }[] =
    await database(RECORDS)
      .where({ is_renewed_by_key: true })
      .whereIn('state', ['valid', 'held'])
      .where('not_after', '>', new Date())
      .whereNotIn(
        'serial_number',
        database(RECORDS).whereNotNull('renewed_from').select('renewed_from'),
      )
      .orderBy('not_after')
      .select('serial_number', 'username');
  return certificates.length === 0
    ? finding.ok('No certificate depends on renewals by proof of its key')
    : finding.warn(
        `Certificates whose machines renew by proof of the key, which is no longer possible: ${certificates
          .map(each => `${each.serial_number} (${each.username})`)
          .join(', ')}`,
        'set up a robot account for each of these machines: docs/renew-without-a-person.md',
      );
}

function messageOf(error: unknown): string {
  return isError(error) ? error.message : String(error);
}
