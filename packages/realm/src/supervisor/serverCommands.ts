import { join } from 'node:path';
import { kdcEnvironment } from '../kerberos/krb5Config';
import type { Account } from '../processes/Account';
import type { Command } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';

/** How the KDC is run in the foreground. */
export function kdcCommand(layout: RealmLayout, account: Account): Command {
  return {
    program: 'krb5kdc',
    args: ['-n', '-r', REALM],
    account,
    env: kdcEnvironment(layout),
  };
}

/**
 * How the directory server is run: in the foreground, which `-d` brings about,
 * with its own key and its own replay cache.
 */
export function directoryCommand(
  layout: RealmLayout,
  account: Account,
): Command {
  const pidFile = join(layout.dir, 'slapd.pid');
  return {
    program: 'ns-slapd',
    args: ['-D', layout.ownConfig, '-i', pidFile, '-d', '0'],
    account,
    env: {
      KRB5_CONFIG: layout.krb5Config,
      KRB5_KTNAME: layout.ldapKeytab,
      KRB5RCACHENAME: `file2:${join(layout.dir, 'ldap.rcache')}`,
    },
  };
}
