import * as kdc from './kdc';
import { createFolder, removeFolder, run } from './processes';
import { realmFiles } from './realmFiles';
import { freePorts } from './Server';
import type { Realm } from './startRealm';

const OTHER_REALM = 'OTHER.TEST';

/** A second Kerberos realm, without a directory. */
export type OtherRealm = Awaited<ReturnType<typeof startOtherRealm>>;

/**
 * Starts the Kerberos realm `OTHER.TEST`, with the principals `alice` and
 * `HTTP/localhost`, and without trust between it and the first realm.
 *
 * @throws Error when a program of MIT Kerberos is missing or fails
 */
export async function startOtherRealm(realm: Realm) {
  const files = realmFiles(await createFolder('other-realm-'));
  const { krb5Config, peopleKeytab, ldapKeytab, keytab } = files;
  await kdc.createDatabase(files, OTHER_REALM, [
    ...kdc.addPrincipal('alice', peopleKeytab),
    ...kdc.addPrincipal('HTTP/localhost', ldapKeytab),
  ]);
  await kdc.joinKeytabs([realm.keytab, ldapKeytab], keytab);
  const [port] = await freePorts(1);
  await kdc.writeKdcConfig(files, OTHER_REALM, port);
  const server = kdc.kdcServer(files, OTHER_REALM, port);
  await server.start();
  const ticket = `FILE:${files.tickets}`;
  const args = ['-k', '-t', peopleKeytab, '-c', ticket, 'alice'];
  await run({ program: 'kinit', args, env: { KRB5_CONFIG: krb5Config } });
  return {
    /** `KRB5_CONFIG` of this realm's clients. */
    krb5Config,
    /** `KRB5CCNAME` with a ticket of `alice@OTHER.TEST`. */
    ticket,
    /** Keytab with the keys of `HTTP/localhost` in both realms. */
    sharedKeytab: keytab,
    async stop(): Promise<void> {
      await server.kill();
      await removeFolder(files.dir);
    },
  };
}
