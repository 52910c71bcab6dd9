import { ServiceKeys } from './kerberos/ServiceKeys';
import { Tickets } from './kerberos/ServiceKeys';
import { ProcessOwner } from './processes/ProcessOwner';
import type { Realm } from './Realm';
import { realmEnvironment } from './Realm';
import { BASE_DN, PORTAL_DN, REALM, realmLayout, ROOT_DN } from './RealmLayout';
import { resolveOptions, type RealmOptions } from './RealmOptions';
import { Supervisor } from './supervisor/Supervisor';

/**
 * Starts a Kerberos realm and a directory, filled with people, on free ports
 * of 127.0.0.1 and as an ordinary user. The first start of a kind makes it
 * (under ten seconds for 200 people); later ones copy it and take about two.
 * When the caller ends, in whatever way, so does the realm.
 *
 * @throws Error when an option is wrong, a program is missing (with the name
 * of its Debian package) or a server does not start; nothing is left behind
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
