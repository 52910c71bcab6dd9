import { createHash } from 'node:crypto';
import { copyFile, readFile, rename, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildRealm } from './buildRealm';
import {
  directoryServer,
  editDse,
  FOLDER_PLACEHOLDER,
  ldapmodify,
  setValue,
} from './directory';
import {
  ENCRYPTION,
  HTTP_SERVICE,
  kdcEnvironment,
  kdcServer,
  writeKdcConfig,
} from './kdc';
import { createFolder, removeFolder, run } from './processes';
import type { Realm, RealmOptions } from './Realm';
import {
  BASE_DN,
  REALM,
  realmFiles,
  ROOT_DN,
  type RealmFiles,
} from './realmFiles';
import { freePorts } from './Server';
import { copyTemplate } from './template';

/**
 * Starts a Kerberos realm and a directory server with users, on free ports of
 * 127.0.0.1 and as the caller. The first start with given options creates a
 * template (about ten seconds for 200 users); later starts copy it in one
 * second. The realm ends with the calling process.
 *
 * @throws Error when an option is invalid, a program is missing (with its
 * Debian package) or a server does not start; no process or file remains
 */
export async function startRealm(options: RealmOptions = {}): Promise<Realm> {
  const { users = 200, schema = 'fas', demo = false } = options;
  if (!Number.isSafeInteger(users) || users < 0) {
    throw new Error(`users: ${users} is not a number of users`);
  }
  const ldif = options.ldif && resolve(options.ldif);
  const content = ldif
    ? { schema, ldif: sha256(await readFile(ldif)) }
    : { schema, users, demo };
  const target = await createFolder('realm-');
  const build = async (folder: string) => {
    report(`creating a realm with ${ldif ?? `${users} users`}`);
    await buildRealm(folder, { users, schema, demo, ldif });
  };
  try {
    await copyTemplate({ target, content, build });
    report('starting the servers');
    return await startServers(realmFiles(target), options);
  } catch (error) {
    await removeFolder(target);
    throw error;
  }
}

function report(step: string): void {
  process.stderr.write(`realm: ${step}\n`);
}

async function startServers(
  files: RealmFiles,
  { accessLog = 'immediate' }: RealmOptions,
): Promise<Realm> {
  const [ldapPort, ldapsPort, kdcPort] = await freePorts(3);
  await writeKdcConfig(files, REALM, kdcPort);
  await symlink(files.config, files.uniqueConfig);
  await editDse(files, template => {
    const dse = template.replaceAll(FOLDER_PLACEHOLDER, files.folder);
    return Object.entries({
      'nsslapd-port': `${ldapPort}`,
      'nsslapd-securePort': `${ldapsPort}`,
      'nsslapd-accesslog-logbuffering': accessLog === 'buffered' ? 'on' : 'off',
    }).reduce((text, [name, value]) => setValue(text, name, value), dse);
  });
  const kdc = kdcServer(files, REALM, kdcPort);
  const directory = directoryServer(files, ldapPort);
  try {
    await Promise.all([kdc.start(), directory.start()]);
  } catch (error) {
    await Promise.all([kdc.kill(), directory.kill()]);
    throw error;
  }
  const tickets = new Map<string, Promise<string>>();
  const ldapUrl = `ldap://127.0.0.1:${ldapPort}`;
  const ldapsUrl = `ldaps://localhost:${ldapsPort}`;
  const bindDn = `uid=portal,cn=sysaccounts,cn=etc,${BASE_DN}`;
  const { rootPasswordFile } = files;
  return {
    realm: REALM,
    baseDn: BASE_DN,
    dir: files.folder,
    ldapUrl,
    ldapsUrl,
    caFile: files.caFile,
    bindDn,
    bindPasswordFile: files.portalPasswordFile,
    rootDn: ROOT_DN,
    rootPasswordFile,
    krb5Config: files.krb5Config,
    keytab: files.httpKeytab,
    peopleKeytab: files.peopleKeytab,
    accessLog: join(files.logs, 'access'),
    env: Object.freeze({
      KRB5_CONFIG: files.krb5Config,
      KEYTAB: files.peopleKeytab,
      REALM,
      REALM_BASE_DN: BASE_DN,
      REALM_LDAP_URL: ldapUrl,
      REALM_LDAPS_URL: ldapsUrl,
      REALM_CA_FILE: files.caFile,
      REALM_BIND_DN: bindDn,
      REALM_BIND_PASSWORD_FILE: files.portalPasswordFile,
      REALM_HTTP_KEYTAB: files.httpKeytab,
    }),
    directory,
    ticket(principal) {
      const ticket = tickets.get(principal) ?? obtainTicket(files, principal);
      tickets.set(principal, ticket);
      ticket.catch(() => tickets.delete(principal)); // the next call retries
      return ticket;
    },
    modify: ldif => ldapmodify({ ldapUrl, rootPasswordFile }, ldif),
    rotateServiceKey: () =>
      changeKeytab(files, 'ktadd', ['-e', ENCRYPTION, HTTP_SERVICE]),
    removeOldServiceKeys: () =>
      changeKeytab(files, 'ktremove', [HTTP_SERVICE, 'old']),
    async stop() {
      await Promise.all([kdc.kill(), directory.kill()]);
      await removeFolder(files.folder);
    },
  };
}

/** Obtains a ticket with the key of the principal. */
async function obtainTicket(
  { krb5Config, peopleKeytab, tickets }: RealmFiles,
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
  files: RealmFiles,
  command: 'ktadd' | 'ktremove',
  args: readonly string[],
): Promise<void> {
  const copy = `${files.httpKeytab}.new`;
  await copyFile(files.httpKeytab, copy);
  await run({
    program: 'kadmin.local',
    args: ['-r', REALM, command, '-k', copy, ...args],
    env: kdcEnvironment(files),
  });
  await rename(copy, files.httpKeytab);
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
