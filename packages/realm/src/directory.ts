import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './processes';
import { BASE_DN, ROOT_DN, type RealmFiles } from './realmFiles';
import { Server } from './Server';

/** Anonymous bind (RFC 4511 §4.2). */
const BIND = Buffer.from('300c020101600702010304008000', 'hex');

/** Stands for the realm's folder in the configuration of a template. */
export const FOLDER_PLACEHOLDER = '@folder@';

/** Returns the directory server of a realm, whose `dse.ldif` names the port. */
export function directoryServer(files: RealmFiles, port: number): Server {
  return new Server({
    program: 'ns-slapd',
    // `-d` keeps it in the foreground.
    args: [
      ...['-D', files.uniqueConfig, '-d', '0'],
      ...['-i', join(files.dir, 'slapd.pid')],
    ],
    env: {
      KRB5_CONFIG: files.krb5Config,
      KRB5_KTNAME: files.ldapKeytab,
      KRB5RCACHENAME: `file2:${join(files.dir, 'ldap.rcache')}`,
    },
    port,
    log: join(files.dir, 'slapd.output'),
    request: BIND,
  });
}

/** Edits the configuration of a stopped server, whose lines are unfolded. */
export async function editDse(
  { config }: RealmFiles,
  edit: (dse: string) => string,
): Promise<void> {
  const file = join(config, 'dse.ldif');
  const dse = (await readFile(file, 'utf8')).replaceAll('\n ', '');
  await writeFile(file, edit(dse), { mode: 0o600 });
}

/** Replaces the first value of attributes in LDIF. */
export function setValues(
  ldif: string,
  values: Readonly<Record<string, string | number>>,
): string {
  return Object.entries(values).reduce(
    (text, [name, value]) =>
      text.replace(new RegExp(`^${name}: .*$`, 'im'), `${name}: ${value}`),
    ldif,
  );
}

/** How to connect to a directory server as its administrator. */
export interface RootAccess {
  readonly ldapUrl: string;
  readonly rootPasswordFile: string;
}

/** Applies LDIF change records as the administrator. */
export async function ldapmodify(
  access: RootAccess,
  changes: string,
): Promise<void> {
  await run({ program: 'ldapmodify', args: bindArguments(access) }, changes);
}

/** Returns the values of an attribute of one entry, as the administrator. */
export async function readValues(
  access: RootAccess,
  dn: string,
  attribute: string,
): Promise<string[]> {
  const output = await run({
    program: 'ldapsearch',
    args: [
      ...['-LLL', '-o', 'ldif-wrap=no', ...bindArguments(access)],
      ...['-b', dn, '-s', 'base', '(objectClass=*)', attribute],
    ],
  });
  const values = output.matchAll(new RegExp(`^${attribute}: (.*)$`, 'gim'));
  return [...values].map(([, value]) => value);
}

/**
 * Returns the entries of the suffix as the administrator, in an order that is
 * the same on each server, without the attributes that are not replicated.
 */
export async function readReplicated(access: RootAccess): Promise<string[]> {
  const output = await run({
    program: 'ldapsearch',
    args: [
      ...['-LLL', '-o', 'ldif-wrap=no', ...bindArguments(access)],
      ...['-b', BASE_DN, '(objectClass=*)'],
    ],
  });
  const isReplicated = (line: string) =>
    !/^(?:memberOf|krbLast\w+|krbLoginFailedCount):/i.test(line);
  return output
    .split(/\n{2,}/)
    .map(entry => entry.split('\n').filter(isReplicated).sort().join('\n'))
    .sort();
}

function bindArguments({ ldapUrl, rootPasswordFile }: RootAccess): string[] {
  return ['-H', ldapUrl, '-x', '-D', ROOT_DN, '-y', rootPasswordFile];
}

/**
 * Computes `memberOf` of all entries with the task of the memberOf plugin, which
 * takes minutes with 20,000 users.
 */
export async function repairMemberOf(access: RootAccess): Promise<void> {
  const dn = 'cn=repair,cn=memberOf task,cn=tasks,cn=config';
  await ldapmodify(
    access,
    `dn: ${dn}
changetype: add
objectClass: top
objectClass: extensibleObject
cn: repair
basedn: ${BASE_DN}
filter: (objectClass=*)
`,
  );
  let exitCodes: string[] = [];
  while (exitCodes.length === 0) {
    await sleep(50);
    exitCodes = await readValues(access, dn, 'nsTaskExitCode');
  }
  if (exitCodes[0] !== '0') {
    throw new Error(`The task of the memberOf plugin failed: ${exitCodes[0]}`);
  }
}
