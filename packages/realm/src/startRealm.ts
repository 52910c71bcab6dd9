import { createHash } from 'node:crypto';
import { copyFile, readFile, rename, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildRealm } from './buildRealm';
import * as directory from './directory';
import * as kdc from './kdc';
import { createFolder, removeFolder, run } from './processes';
import * as paths from './realmFiles';
import { freePorts } from './Server';
import { copyTemplate } from './template';

const { REALM, BASE_DN, ROOT_DN } = paths;

const bindDn = `uid=portal,cn=sysaccounts,cn=etc,${BASE_DN}`;

/** Options of a realm. */
export interface RealmOptions {
  /** Number of FAS users. Default: 200; tested up to 100,000. */
  users?: number;
  /**
   * Path of an LDIF file that replaces the generated entries; it contains
   * entries below FreeIPA's containers of `dc=example,dc=test`. `users` is then
   * ignored.
   */
  ldif?: string;
  /** `fas` (default), or `freeipa`: without the Fedora Account System. */
  schema?: 'fas' | 'freeipa';
  /**
   * `immediate` (default): an operation ends after its line is written to the
   * access log, so that tests can read it. `buffered`: as in FreeIPA, and
   * several times faster.
   */
  accessLog?: 'immediate' | 'buffered';
}

/** A running realm on 127.0.0.1. */
export type Realm = Awaited<ReturnType<typeof startServers>>;

/**
 * Starts a Kerberos realm and a directory server with users, on free ports of
 * 127.0.0.1 and as the caller. The first start with given options creates a
 * template (about ten seconds for 200 users); later starts copy it in one
 * second. The realm ends with the calling process.
 *
 * @throws Error when an option is invalid, or a program is missing or fails; no
 * process or file remains
 */
export async function startRealm(options: RealmOptions = {}): Promise<Realm> {
  const { users = 200, schema = 'fas', accessLog = 'immediate' } = options;
  if (!Number.isSafeInteger(users) || users < 0) {
    throw new Error(`users: ${users} is not a number of users`);
  }
  const ldif = options.ldif && resolve(options.ldif);
  const content = ldif
    ? { schema, ldif: sha256(await readFile(ldif)) }
    : { schema, users };
  const target = await createFolder('realm-');
  const build = async (folder: string) => {
    report(`creating a realm with ${ldif ?? `${users} users`}`);
    await buildRealm(folder, { users, schema, ldif });
  };
  try {
    await copyTemplate({ target, content, build });
    report('starting the servers');
    return await startServers(paths.realmFiles(target), accessLog);
  } catch (error) {
    await removeFolder(target);
    throw error;
  }
}

function report(step: string): void {
  process.stderr.write(`realm: ${step}\n`);
}

async function startServers(
  files: paths.RealmFiles,
  accessLog: 'immediate' | 'buffered',
) {
  const [ldapPort, ldapsPort, kdcPort] = await freePorts(3);
  await kdc.writeKdcConfig(files, REALM, kdcPort);
  await symlink(files.config, files.uniqueConfig);
  await directory.editDse(files, template => {
    const dse = template.replaceAll(directory.FOLDER_PLACEHOLDER, files.dir);
    return directory.setValues(dse, {
      'nsslapd-port': ldapPort,
      'nsslapd-securePort': ldapsPort,
      'nsslapd-accesslog-logbuffering': accessLog === 'buffered' ? 'on' : 'off',
    });
  });
  const kdcServer = kdc.kdcServer(files, REALM, kdcPort);
  const server = directory.directoryServer(files, ldapPort);
  const kill = () => Promise.all([kdcServer.kill(), server.kill()]);
  try {
    await Promise.all([kdcServer.start(), server.start()]);
  } catch (error) {
    await kill();
    throw error;
  }
  const ldapUrl = `ldap://localhost:${ldapPort}`;
  const ldapsUrl = `ldaps://localhost:${ldapsPort}`;
  const tickets = new Map<string, Promise<string>>();
  return {
    ...files,
    /** `EXAMPLE.TEST`. */
    realm: REALM,
    /** `dc=example,dc=test`. */
    baseDn: BASE_DN,
    ldapUrl,
    ldapsUrl,
    /** The gateway's service account. */
    bindDn,
    /** Administrator of the directory server, exempt from access control. */
    rootDn: ROOT_DN,
    /** Environment variables of programs that use the realm. */
    env: {
      KRB5_CONFIG: files.krb5Config,
      KEYTAB: files.peopleKeytab,
      REALM,
      REALM_BASE_DN: BASE_DN,
      REALM_LDAP_URL: ldapUrl,
      REALM_LDAPS_URL: ldapsUrl,
      REALM_CA_FILE: files.caFile,
      REALM_BIND_DN: bindDn,
      REALM_BIND_PASSWORD_FILE: files.bindPasswordFile,
      REALM_HTTP_KEYTAB: files.keytab,
    },
    /** The directory server, which keeps its ports. */
    directory: server,

    /**
     * Obtains a ticket for a principal, once.
     *
     * @param principal - for example `bot/builder.example.test`; the realm is
     * optional
     * @returns the credential cache, for `KRB5CCNAME`
     */
    ticket(principal: string): Promise<string> {
      const ticket = tickets.get(principal) ?? obtainTicket(files, principal);
      tickets.set(principal, ticket);
      ticket.catch(() => tickets.delete(principal)); // the next call retries
      return ticket;
    },

    /** Applies LDIF change records as the administrator. */
    modify: (ldif: string) => directory.ldapmodify({ ldapUrl, ...files }, ldif),

    /**
     * Creates a new key for HTTP/localhost, which the KDC uses immediately, and
     * adds it to the keytab, which is replaced atomically.
     */
    rotateServiceKey: () =>
      changeKeytab(files, 'ktadd', ['-e', kdc.ENCRYPTION, kdc.HTTP_SERVICE]),

    /** Removes all keys except the newest from the keytab, atomically. */
    removeOldServiceKeys: () =>
      changeKeytab(files, 'ktremove', [kdc.HTTP_SERVICE, 'old']),

    /** Stops the servers and removes all files; can be called repeatedly. */
    async stop(): Promise<void> {
      await kill();
      await removeFolder(files.dir);
    },
  };
}

/** Obtains a ticket with the key of the principal. */
async function obtainTicket(
  { krb5Config, peopleKeytab, tickets }: paths.RealmFiles,
  principal: string,
): Promise<string> {
  const cache = `FILE:${join(tickets, sha256(principal))}`;
  await run({
    program: 'kinit',
    args: ['-k', '-t', peopleKeytab, '-c', cache, '--', principal],
    env: { KRB5_CONFIG: krb5Config },
  });
  return cache;
}

/** Changes a copy of the gateway's keytab, and replaces the keytab with it. */
async function changeKeytab(
  files: paths.RealmFiles,
  command: 'ktadd' | 'ktremove',
  args: readonly string[],
): Promise<void> {
  const copy = `${files.keytab}.new`;
  await copyFile(files.keytab, copy);
  await run({
    program: 'kadmin.local',
    args: ['-r', REALM, command, '-k', copy, ...args],
    env: kdc.kdcEnvironment(files),
  });
  await rename(copy, files.keytab);
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
