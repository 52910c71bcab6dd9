import { isError, toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  explainConnectionError,
  finding,
  silentLogger,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readPemBlocks } from '@directory-gateway/x509';
import { ResultCodeError } from 'ldapts';
import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  accessRequirements,
  canReadPreservedUsers,
  permissionCommand,
  preservedUsersPermission,
  readMissingRights,
} from '../ldap/accessRequirements';
import { AccessVerifier } from '../ldap/AccessVerifier';
import {
  containersBelow,
  trustedDn,
} from '../ldap/connection/DistinguishedName';
import { isPresent } from '../ldap/connection/filters';
import {
  createClient,
  readCa,
  readPassword,
  secureAndBind,
  withDeadline,
} from '../ldap/connection/ldapClient';
import type { LdapConfig } from '../ldap/connection/LdapConfig';
import { isNoSuchObject, isRejectedBind } from '../ldap/connection/ldapErrors';
import { LdapPool, NEVER_ABORTED } from '../ldap/connection/LdapPool';
import { LdapServers } from '../ldap/connection/LdapServers';
import { entryKinds } from '../ldap/entryKinds';
import { textsOf } from '../ldap/entryValues';
import { LdapReader } from '../ldap/LdapReader';
import { LdapReplicaSource } from '../ldap/LdapReplicaSource';
import { SchemaVerifier } from '../ldap/SchemaVerifier';
import { UsnReader } from '../ldap/UsnReader';
import type { Portal } from './Portal';

/** Maximum time for one server to connect and bind. */
const CONNECT_TIMEOUT_MS = 2000;

const DNS_TIMEOUT_MS = 1000;

/** certmonger renews FreeIPA's certificates 28 days before they expire. */
const EXPIRY_WARNING_MS = 14 * 24 * 60 * 60 * 1000;

/** The steps of a connection, in order; the last one means that it is usable. */
const STEPS = ['dns', 'connect', 'tls', 'bind', 'bound'] as const;
type Step = (typeof STEPS)[number];

/** How far a connection to a server came. */
interface Probe {
  readonly url: string;
  /** The step that failed, or `bound`. */
  readonly step: Step;
  /** Of the step that failed. */
  readonly finding?: DoctorFinding;
  /** The server's certificate. */
  readonly certificate?: X509Certificate;
}

type OpenDirectory = ReturnType<typeof openDirectory>;

/** Connects the backend's own components to servers. */
function openDirectory(portal: Portal, urls: readonly string[]) {
  const { ldap, schema } = portal.directory;
  const { baseDn, bindDn, probeIntervalMs } = ldap;
  const searcher = new LdapPool({
    config: { ...ldap, servers: { kind: 'urls', urls } },
    logger: silentLogger,
  });
  portal.onClose(() => searcher.close());
  const schemaVerifier = new SchemaVerifier({ searcher, schema });
  const accessVerifier = new AccessVerifier({
    searcher,
    schemaVerifier,
    schema,
    baseDn,
    bindDn,
    maxAgeMs: probeIntervalMs,
    logger: silentLogger,
  });
  const reader = new LdapReader({ searcher, accessVerifier });
  const source = new LdapReplicaSource({ reader, schema, ldap });
  return { baseDn, bindDn, schema, searcher, schemaVerifier, reader, source };
}

/** Connections to the directory that the checks of one run share. */
class DirectoryServers {
  readonly #portal: Portal;
  #probes: Promise<readonly Probe[]> | undefined;
  #opened: Promise<OpenDirectory> | undefined;

  constructor(portal: Portal) {
    this.#portal = portal;
  }

  get config() {
    return this.#portal.directory.ldap;
  }

  /** Probes each server once. */
  probes(): Promise<readonly Probe[]> {
    this.#probes ??= this.#urls().then(urls =>
      Promise.all(urls.map(url => this.#probe(url))),
    );
    return this.#probes;
  }

  /** Returns the backend's own components, for the servers that can be used. */
  open(): Promise<OpenDirectory> {
    this.#opened ??= this.probes().then(probes =>
      openDirectory(
        this.#portal,
        probes.filter(({ step }) => step === 'bound').map(({ url }) => url),
      ),
    );
    return this.#opened;
  }

  async #urls(): Promise<readonly string[]> {
    const servers = new LdapServers({
      config: this.config,
      logger: silentLogger,
      resolver: new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 }),
    });
    this.#portal.onClose(() => servers.close());
    return (await servers.inOrder()).map(({ url }) => url);
  }

  async #probe(url: string): Promise<Probe> {
    const { config } = this;
    const ca = await readCa(config);
    // An unreadable password is the finding of another check.
    const bindPassword = await readPassword(config).catch(() => undefined);
    const endpoint = {
      url,
      startTls: config.startTls,
      ca,
      bindDn: config.bindDn,
      bindPassword: bindPassword ?? '',
      connectTimeoutMs: Math.min(config.connectTimeoutMs, CONNECT_TIMEOUT_MS),
    };
    let certificate: X509Certificate | undefined;
    let socketError: unknown;
    let isConnected = false;
    const onSocket = (socket: Socket) => {
      socket.once('connect', () => {
        isConnected = true;
      });
      socket.once('error', error => {
        socketError ??= error;
      });
      if (socket instanceof TLSSocket) {
        socket.once('secureConnect', () => {
          certificate = socket.getPeerX509Certificate();
        });
      }
    };
    const connection = createClient(endpoint, {
      onSocket,
      onClose() {},
      onProtocolError(error) {
        socketError ??= error;
      },
    });
    const connect = async () => {
      if (bindPassword !== undefined) {
        await secureAndBind(connection.client, endpoint);
      } else if (endpoint.startTls) {
        await connection.client.startTLS();
      }
    };
    try {
      await withDeadline(connect(), {
        ms: endpoint.connectTimeoutMs,
        error: () => new Error('timeout'),
      });
      return { url, step: 'bound', certificate };
    } catch (error) {
      if (isRejectedBind(error)) {
        const rejection = explainRejectedBind(error, { ...config, url });
        return { url, step: 'bind', finding: rejection, certificate };
      }
      return {
        url,
        certificate,
        ...explainConnectionError(socketError ?? error, {
          url,
          isConnected,
          urlKey: `directory.ldap.${
            config.servers.kind === 'srv' ? 'srv' : 'servers'
          }`,
          caKey: 'directory.ldap.caFile',
        }),
      };
    } finally {
      connection.destroy();
    }
  }
}

/** Checks of the directory servers and of the service account. */
export function ldapChecks(portal: Portal): readonly DoctorCheck[] {
  const servers = new DirectoryServers(portal);
  const bound = ['ldap-bind', 'ldap-password'];
  return [
    { id: 'ldap-ca-file', run: () => checkCaFile(portal) },
    { id: 'ldap-password', run: () => checkPassword(portal) },
    {
      id: 'ldap-dns',
      after: ['ldap-ca-file'],
      run: () => checkDns(servers),
    },
    {
      id: 'ldap-server',
      after: ['ldap-dns'],
      run: () => stepFinding(servers, 'connect'),
    },
    {
      id: 'ldap-tls',
      after: ['ldap-server'],
      run: () => checkTls(servers),
    },
    {
      id: 'ldap-bind',
      after: ['ldap-tls', 'ldap-password'],
      run: () => stepFinding(servers, 'bind', servers.config.bindDn),
    },
    { id: 'base-dn', after: bound, run: () => checkBaseDn(servers) },
    { id: 'ldap-schema', after: ['base-dn'], run: () => checkSchema(servers) },
    {
      id: 'ldap-rights',
      after: ['ldap-schema'],
      run: () => checkRights(servers),
    },
    {
      id: 'ldap-fields',
      after: ['ldap-rights'],
      run: () => checkFields(servers),
    },
    {
      id: 'preserved-users',
      after: ['base-dn'],
      run: () => checkPreservedUsers(servers),
    },
    { id: 'usn', after: ['ldap-rights'], run: () => checkUsn(servers) },
    {
      id: 'persistent-search',
      after: ['base-dn'],
      run: () => checkPersistentSearch(servers),
    },
  ];
}

/** The finding of one step: a failure unless another server can be used. */
async function stepFinding(
  servers: DirectoryServers,
  step: Step,
  success?: string,
): Promise<DoctorFinding> {
  const probes = await servers.probes();
  const reached = probes.filter(
    probe => STEPS.indexOf(probe.step) >= STEPS.indexOf(step),
  );
  const failed = reached.filter(probe => probe.step === step);
  if (failed.length === 0) {
    return finding.ok(success ?? reached.map(({ url }) => url).join(', '));
  }
  const isUsable = probes.some(probe => probe.step === 'bound');
  return {
    status: isUsable ? 'warn' : 'fail',
    message: failed.map(probe => probe.finding!.message).join('; '),
    fix: failed.map(probe => probe.finding!.fix).join('\n'),
  };
}

async function checkCaFile(portal: Portal): Promise<DoctorFinding> {
  const { ldap } = portal.directory;
  const { caFile } = ldap;
  if (caFile === undefined) {
    return finding.ok('Not set: the CAs of Node.js are trusted');
  }
  const fix = `copy the CA of the directory servers to ${caFile}; FreeIPA's is /etc/ipa/ca.crt on every enrolled machine`;
  let pem: string;
  try {
    pem = (await readCa(ldap)) ?? '';
  } catch (error) {
    const { cause } = toError(error);
    return finding.fail(
      isError(cause)
        ? `${caFile} (directory.ldap.caFile) cannot be read (${cause.code})`
        : `${caFile} (directory.ldap.caFile) is empty`,
      fix,
    );
  }
  const ends = expiriesIn(pem);
  if (ends.length === 0) {
    return finding.fail(
      `${caFile} (directory.ldap.caFile) is not a certificate in PEM`,
      fix,
    );
  }
  const latest = Math.max(...ends);
  const until = new Date(latest).toISOString().slice(0, 10);
  if (latest < Date.now()) {
    return finding.fail(
      `The CA in ${caFile} (directory.ldap.caFile) expired on ${until}`,
      'ipa-cacert-manage renew and ipa-certupdate on the FreeIPA server',
      fix,
    );
  }
  return latest < Date.now() + EXPIRY_WARNING_MS
    ? finding.warn(
        `The CA in ${caFile} (directory.ldap.caFile) expires on ${until}`,
        'ipa-cacert-manage renew and ipa-certupdate on the FreeIPA server',
        fix,
      )
    : finding.ok(`${caFile}, until ${until}`);
}

/** Expiry of each certificate in a PEM text, in milliseconds since 1970. */
function expiriesIn(pem: string): readonly number[] {
  try {
    return readPemBlocks(pem, { label: 'CERTIFICATE' }).map(der =>
      Date.parse(new X509Certificate(der).validTo),
    );
  } catch {
    return [];
  }
}

async function checkPassword(portal: Portal): Promise<DoctorFinding> {
  const { bindPassword } = portal.directory.ldap;
  try {
    await readPassword({ bindPassword });
    return bindPassword.kind === 'value'
      ? finding.warn(
          'directory.ldap.bindPassword contains the password in the configuration',
          'write it to a file with mode 600 and set directory.ldap.bindPasswordFile',
        )
      : finding.ok(bindPassword.path);
  } catch (error) {
    const path = bindPassword.kind === 'file' ? bindPassword.path : '';
    const cause = isError(error) && isError(error.cause) ? error.cause : error;
    const { name, code, message } = toError(cause);
    return name === 'SecretFileError'
      ? finding.fail(
          message.replace(/: run chmod.*$/, ''),
          `chmod 600 ${path}`,
          'change the password if others may have read it',
        )
      : finding.fail(
          code
            ? `${path} (directory.ldap.bindPasswordFile) cannot be read (${code})`
            : `${path} (directory.ldap.bindPasswordFile) is empty`,
          `write the password of the service account to ${path}, owned by the portal's user: chmod 600 ${path}`,
        );
  }
}

async function checkDns(servers: DirectoryServers): Promise<DoctorFinding> {
  const configured = servers.config.servers;
  if (configured.kind === 'srv' && (await servers.probes()).length === 0) {
    return finding.fail(
      `DNS has no usable SRV records ${configured.name} in ${configured.domain}`,
      `dig +short SRV ${configured.name} must list the servers: ipa dns-update-system-records, or set directory.ldap.servers`,
    );
  }
  return await stepFinding(servers, 'dns');
}

async function checkTls(servers: DirectoryServers): Promise<DoctorFinding> {
  const result = await stepFinding(servers, 'tls');
  if (result.status !== 'ok') {
    return result;
  }
  const probes = await servers.probes();
  const expiring = probes.filter(
    ({ certificate }) =>
      certificate &&
      Date.parse(certificate.validTo) < Date.now() + EXPIRY_WARNING_MS,
  );
  if (expiring.length > 0) {
    return finding.warn(
      expiring
        .map(
          ({ url, certificate }) =>
            `The certificate of ${new URL(url).host} expires on ${new Date(
              certificate!.validTo,
            )
              .toISOString()
              .slice(0, 10)}`,
        )
        .join('; '),
      ...expiring.map(
        ({ url }) =>
          `renew it on ${
            new URL(url).hostname
          }: getcert list, then ipa-getcert resubmit -i ID`,
      ),
    );
  }
  return probes.some(({ certificate }) => certificate)
    ? result
    : finding.ok('No TLS: the server is on this machine');
}

/** Result codes of a bind (RFC 4511 §4.1.9). */
function explainRejectedBind(
  error: unknown,
  { url, bindDn, baseDn }: LdapConfig & { readonly url: string },
): DoctorFinding {
  const cause = isError(error) ? error.cause : undefined;
  const code = cause instanceof ResultCodeError ? cause.code : 0;
  const manager = `-H ${url} -D 'cn=Directory Manager' -W`;
  switch (code) {
    case 49:
    case 48:
    case 32:
      return finding.fail(
        `The directory refused the password of ${bindDn}, or has no such account (result code ${code})`,
        `compare: ldapwhoami -x -H ${url} -D '${bindDn}' -W`,
        `set a new password: ldappasswd -x ${manager} -S '${bindDn}'`,
      );
    case 53:
    case 19:
      return finding.fail(
        `The account ${bindDn} is locked or its password has expired (result code ${code})`,
        `unlock it: dsidm INSTANCE -b '${baseDn}' account unlock '${bindDn}', or remove nsAccountLock with ldapmodify -x ${manager}`,
        'passwordExpirationTime: 20380119031407Z in its entry prevents expiry',
      );
    default:
      return finding.fail(
        `The directory does not let ${bindDn} bind in this way (result code ${code})`,
        'use ldaps:// in directory.ldap.servers, or set directory.ldap.startTls: true',
      );
  }
}

async function checkBaseDn(servers: DirectoryServers): Promise<DoctorFinding> {
  const { baseDn, searcher } = await servers.open();
  const read = (base: string, attributes: readonly string[]) =>
    searcher.search(
      {
        base: trustedDn(base),
        scope: 'base',
        filter: isPresent('objectClass'),
        attributes,
      },
      NEVER_ABORTED,
    );
  try {
    await read(containersBelow(baseDn).users, ['1.1']);
    return finding.ok(baseDn);
  } catch (error) {
    if (!isNoSuchObject(error)) {
      throw error;
    }
    const { entries } = await read('', ['namingContexts']);
    const contexts = entries
      .flatMap(entry => textsOf(entry, 'namingContexts'))
      .filter(name => /^dc=/i.test(name));
    return finding.fail(
      `The directory has no users below ${baseDn} (directory.ldap.baseDn)`,
      contexts.length > 0
        ? `set directory.ldap.baseDn: ${contexts.join(' or ')}`
        : 'set directory.ldap.baseDn to the suffix of FreeIPA: ipa env basedn',
    );
  }
}

async function checkSchema(servers: DirectoryServers): Promise<DoctorFinding> {
  const { schema, schemaVerifier } = await servers.open();
  const missing = await schemaVerifier.findMissing();
  if (missing.length === 0) {
    return finding.ok('All attributes and object classes exist');
  }
  const fields = { ...schema.users, ...schema.groups };
  const mapped = Object.entries(fields).filter(([, { attribute }]) =>
    missing.includes(attribute?.split(';')[0] ?? ''),
  );
  return finding.fail(
    `The directory's schema lacks ${missing.join(', ')}`,
    missing.includes('fasUser')
      ? 'install freeipa-fas on the FreeIPA servers, or set directory.schema: freeipa'
      : `correct ${
          mapped.map(([field]) => `directory.attributes.${field}`).join(', ') ||
          'directory.schema'
        }`,
  );
}

/** Options of `ipa permission-add` for the entries of each kind. */
function targetOf(kind: string, baseDn: string): string {
  const types: Record<string, string> = { users: 'user', groups: 'group' };
  return types[kind]
    ? `--type=${types[kind]}`
    : `--subtree='${containersBelow(baseDn).agreements}'`;
}

function permissionFor(
  kind: string,
  attributes: readonly string[],
  baseDn: string,
): string {
  return permissionCommand({
    name: `Read ${attributes.join(' ')} of ${kind}`,
    attributes,
    target: targetOf(kind, baseDn),
  });
}

async function checkRights(servers: DirectoryServers): Promise<DoctorFinding> {
  const context = await servers.open();
  const { baseDn, bindDn, schema } = context;
  const results = await Promise.all(
    accessRequirements(schema, baseDn).map(async requirement => ({
      ...requirement,
      ...(await readMissingRights(context, requirement)),
    })),
  );
  const lacking = results.filter(({ missing }) => missing.length > 0);
  if (lacking.length > 0) {
    return finding.fail(
      `${bindDn} may not read and search ${lacking
        .map(({ kind, missing }) => `${missing.join(', ')} of ${kind}`)
        .join(' and ')}; every request gets 503`,
      ...lacking.map(({ kind, missing }) =>
        permissionFor(kind, missing, baseDn),
      ),
    );
  }
  const absent = results.flatMap(({ absentClass }) => absentClass ?? []);
  const required = results.flatMap(({ attributes }) => attributes).join(', ');
  return finding.ok(
    absent.length > 0
      ? `${required}; there is no ${absent.join(' and no ')} entry yet`
      : required,
  );
}

/** Fields whose attributes the account may not read are always absent. */
async function checkFields(servers: DirectoryServers): Promise<DoctorFinding> {
  const context = await servers.open();
  const { baseDn, bindDn, schema } = context;
  const containers = containersBelow(baseDn);
  const kinds = entryKinds({ schema, containers });
  const classes = [
    ['users', schema.userClass],
    ['groups', schema.groupClass],
    ['agreements', 'fasAgreement'],
  ] as const;
  const results = await Promise.all(
    classes.flatMap(([kind, objectClass]) => {
      const read = kinds[kind];
      if (!read) {
        return [];
      }
      const requirement = {
        objectClass,
        // Rights apply to the attribute without options such as `;binary`.
        attributes: read.attributes.map(name => name.split(';')[0]),
      };
      return [
        readMissingRights(context, {
          ...requirement,
          container: read.container,
          fallback: { ...requirement, attributes: [] },
        }).then(({ missing }) => ({ kind, missing })),
      ];
    }),
  );
  const lacking = results.filter(({ missing }) => missing.length > 0);
  return lacking.length === 0
    ? finding.ok('All attributes of the API are readable')
    : finding.warn(
        `${bindDn} may not read ${lacking
          .map(({ kind, missing }) => `${missing.join(', ')} of ${kind}`)
          .join(' and ')}; the fields are always absent`,
        ...lacking.map(({ kind, missing }) =>
          permissionFor(kind, missing, baseDn),
        ),
      );
}

async function checkPreservedUsers(
  servers: DirectoryServers,
): Promise<DoctorFinding> {
  const context = await servers.open();
  return (await canReadPreservedUsers(context, context.baseDn))
    ? finding.ok('The replica is notified when a user is preserved')
    : finding.warn(
        'The replica is not notified when a user is preserved, and finds out by comparing keys, which takes seconds',
        preservedUsersPermission(context.baseDn),
      );
}

async function checkUsn(servers: DirectoryServers): Promise<DoctorFinding> {
  const { reader, source } = await servers.open();
  const { usn, server } = await new UsnReader({ reader }).read();
  const consequence = 'so the replica reads all entries again each minute';
  if (usn === undefined) {
    return finding.warn(
      `${server} has no USNs (update sequence numbers), ${consequence}`,
      `dsconf -D 'cn=Directory Manager' ${server} plugin usn enable, then on the server: systemctl restart dirsrv.target`,
    );
  }
  return (await source.readPosition()).usn === undefined
    ? finding.warn(
        `The service account may not search for entryusn, ${consequence}`,
        "ipa permission-mod 'System: Read Timestamp and USN Operational Attributes' --bindtype=all",
      )
    : finding.ok(`lastusn ${usn}`);
}

async function checkPersistentSearch(
  servers: DirectoryServers,
): Promise<DoctorFinding> {
  const { searcher, source } = await servers.open();
  const [{ url: server }] = await searcher.servers.inOrder();
  let isSupported = true;
  const unsubscribe = await source.subscribe(server, {
    onDeleted() {},
    onLost() {},
    onUnsupported() {
      isSupported = false;
    },
  });
  unsubscribe();
  return isSupported
    ? finding.ok('Allowed: the replica is notified of deletions')
    : finding.warn(
        `${server} refuses persistent searches, so the replica finds deletions by comparing keys`,
        'allow the service account the control 2.16.840.1.113730.3.4.3: aci of oid=2.16.840.1.113730.3.4.3,cn=features,cn=config, and let no LDAP proxy remove it',
      );
}
