import { ServiceKeys } from './kerberos/ServiceKeys';
import { Tickets } from './kerberos/Tickets';
import { ProcessOwner } from './processes/ProcessOwner';
import { realmEnvironment, type Realm } from './Realm';
import { BASE_DN, PORTAL_DN, REALM, realmLayout, ROOT_DN } from './RealmLayout';
import { resolveOptions, type RealmOptions } from './RealmOptions';
import { Supervisor } from './supervisor/Supervisor';

/**
 * Starts a Kerberos realm and a directory server with users, on free ports of
 * 127.0.0.1 and as an ordinary user. The first start with given options creates
 * a template (ten seconds for 200 users); later starts copy it in two seconds.
 * The realm ends with the calling process.
 *
 * @throws Error when an option is invalid, a program is missing (with its
 * Debian package) or a server does not start; no process or file remains
 */
export async function startRealm(options: RealmOptions = {}): Promise<Realm> {
  const { onProgress = toStandardError, signal } = options;
  const { supervisor, facts } = await Supervisor.start(
    resolveOptions(options),
    { onProgress, signal },
  );
  const layout = realmLayout(facts.dir);
  const programs = new ProcessOwner();
  const tickets = new Tickets(layout);
  const serviceKeys = new ServiceKeys(layout);
  const ldapUrl = `ldap://127.0.0.1:${facts.ldapPort}`;
  const realm: Omit<Realm, 'env'> = {
    realm: REALM,
    baseDn: BASE_DN,
    dir: layout.dir,
    ldapUrl,
    ldapsUrl: `ldaps://localhost:${facts.ldapsPort}`,
    caFile: layout.caFile,
    bindDn: PORTAL_DN,
    bindPasswordFile: layout.portalPasswordFile,
    rootDn: ROOT_DN,
    rootPasswordFile: layout.rootPasswordFile,
    krb5Config: layout.krb5Config,
    keytab: layout.httpKeytab,
    peopleKeytab: layout.peopleKeytab,
    accessLog: layout.accessLog,
    directory: {
      stop: () => supervisor.directory('stop'),
      start: () => supervisor.directory('start'),
      kill: () => supervisor.directory('kill'),
      pause: () => supervisor.directory('pause'),
      resume: () => supervisor.directory('resume'),
    },
    kdc: {
      stop: () => supervisor.kdc('stop'),
      start: () => supervisor.kdc('start'),
    },
    ticket: principal => tickets.of(principal),
    modify: async ldif => {
      const bind = ['-x', '-D', ROOT_DN, '-y', layout.rootPasswordFile];
      const args = ['-H', ldapUrl, ...bind];
      await programs.run({ program: 'ldapmodify', args }, ldif);
    },
    rotateServiceKey: () => serviceKeys.rotate(),
    removeOldServiceKeys: () => serviceKeys.removeOld(),
    stop: () => supervisor.stop(),
    ended: () => supervisor.ended(),
  };
  return { ...realm, env: Object.freeze(realmEnvironment(realm)) };
}

function toStandardError(step: string): void {
  process.stderr.write(`realm: ${step}\n`);
}
