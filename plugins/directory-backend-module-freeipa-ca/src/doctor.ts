/**
 * The check of FreeIPA's CA for `directory-doctor`.
 *
 * @packageDocumentation
 */
import type { Config } from '@backstage/config';
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  explainConnectionError,
  finding,
  silentLogger,
} from '@directory-gateway/backstage-plugin-directory-node';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { systemClock } from './Clock';
import { FreeIpaError } from './errors';
import { BLOCK, type FreeIpaConfig, readFreeIpaConfig } from './FreeIpaConfig';
import { FreeIpaServers } from './FreeIpaServers';
import { isRpcRecord, type RpcRecord, type RpcValue } from './rpc';

const NOT_FOUND = 4001;

/** Permissions without which the gateway cannot sign or look up certificates. */
const PERMISSIONS = [
  'Request Certificate',
  'Retrieve Certificates from the CA',
  'System: Manage User Certificates',
];

/** Without it, revocations get 503. */
const REVOKE = 'Revoke Certificate';

/** Returns attributes as they are in the directory, in every release. */
const RAW = { all: true, raw: true };

/**
 * The check of FreeIPA as the CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  { id: 'freeipa-ca', after: ['kerberos-ticket'], run: check },
];

/**
 * Logs in to each server and queries Dogtag, then checks the profiles, the CA
 * ACLs and the permissions of the gateway's account. Changes nothing.
 */
async function check({
  config: root,
  responseMs,
}: DoctorContext): Promise<DoctorFinding> {
  const config = readFreeIpaConfig(root);
  if (!config) {
    return finding.skip(`${BLOCK} is not configured`);
  }
  const { cacn, login } = config;
  await (login.file && checkSecretFile(login.file, { key: login.fileKey }));
  const servers = config.servers.map(
    url =>
      new FreeIpaServers({
        config: { ...config, servers: [url], requestTimeoutMs: responseMs },
        logger: silentLogger,
        clock: systemClock,
      }),
  );
  const failures = await Promise.all(
    servers.map(server =>
      // FreeIPA queries Dogtag.
      server.run({ method: 'ca_show', args: [cacn] }).then(
        () => undefined,
        error => explain(error, config),
      ),
    ),
  );
  const usable = servers.find((_, index) => !failures[index]);
  const failure = failures.find(each => each);
  if (!usable) {
    return failure!;
  }
  try {
    const problems = await Promise.all([
      checkProfiles(usable, root, cacn),
      checkPermissions(usable, login.account),
    ]);
    return (
      problems.find(problem => problem) ??
      (failure && { ...failure, status: 'warn' }) ??
      finding.ok(`${login.account} at ${config.servers.join(', ')}`)
    );
  } catch (error) {
    return explain(error, config);
  }
}

/** Explains why a server or its CA cannot be used. */
function explain(error: unknown, config: FreeIpaConfig): DoctorFinding {
  if (!(error instanceof FreeIpaError)) {
    throw error;
  }
  const { code, fault, message, server } = error;
  const { account, file, kind } = config.login;
  if (fault === 'unreachable') {
    return explainConnectionError(error, {
      url: server,
      urlKey: `${BLOCK}.servers`,
      caKey: `${BLOCK}.caFile`,
    });
  }
  if (code === NOT_FOUND || / status 400\b/.test(message)) {
    return finding.fail(
      message,
      `correct ${BLOCK}.cacn (ipa ca-find), or ${BLOCK}.servers: FreeIPA requires its own host names, not an alias`,
    );
  }
  if (fault === 'credentials' || /ticket|status 401/.test(message)) {
    return finding.fail(
      `FreeIPA does not accept the login of ${account}: ${message}`,
      kind === 'password'
        ? `try the password: kinit ${account}; reset it with ipa passwd ${account}, then change it once`
        : `try the keytab: kinit -k -t ${file ?? '/etc/krb5.keytab'} ${account}`,
    );
  }
  return finding.fail(
    `FreeIPA or its CA does not respond: ${message}`,
    'on the FreeIPA server: ipactl status, ipactl restart; the first response after a restart takes 10 to 20 seconds',
  );
}

/** Checks that FreeIPA has the profiles, and that a CA ACL allows them. */
async function checkProfiles(
  servers: FreeIpaServers,
  root: Config,
  cacn: string,
): Promise<DoctorFinding | undefined> {
  const profiles = root
    .getOptionalConfigArray('directory.certificates.profiles')
    ?.map(profile => profile.getString('name')) ?? ['userCerts'];
  const rules = await find(servers, 'caacl_find', [], { ...RAW, sizelimit: 0 });
  for (const profile of profiles) {
    if (!(await find(servers, 'certprofile_show', [profile]))) {
      return finding.fail(
        `FreeIPA does not have the certificate profile ${profile} (directory.certificates.profiles)`,
        `ipa certprofile-import ${profile} --file ${profile}.cfg --store=true`,
      );
    }
    if (rules && !rules.some(rule => allows(rule, { cacn, profile }))) {
      return finding.fail(
        `No enabled CA ACL lets users have certificates of the profile ${profile} from the CA ${cacn}`,
        'ipa caacl-find lists the CA ACLs; docs/freeipa.md has the commands that add one',
      );
    }
  }
  return undefined;
}

/** Whether a CA ACL allows a profile for some users (`ipaserver/plugins/caacl.py`). */
function allows(
  rule: RpcRecord,
  { cacn, profile }: { readonly cacn: string; readonly profile: string },
): boolean {
  const values = (attribute: string) =>
    textsOf(rule[attribute]).map(text => text.toLowerCase());
  const names = (attribute: string, name: string) =>
    values(attribute).some(dn => dn.startsWith(`cn=${name.toLowerCase()},`));
  const isForAll = (category: string) => values(category).includes('all');
  return (
    values('ipaenabledflag').includes('true') &&
    (isForAll('usercategory') || values('memberuser').length > 0) &&
    (isForAll('ipacertprofilecategory') ||
      names('ipamembercertprofile', profile)) &&
    (isForAll('ipacacategory') ||
      names('ipamemberca', cacn) ||
      // A rule without CAs applies to FreeIPA's own.
      (values('ipamemberca').length === 0 && cacn === 'ipa'))
  );
}

/**
 * Checks the permissions of the gateway's account. If it has none of those that
 * FreeIPA defines, a lookup shows whether it has others.
 */
async function checkPermissions(
  servers: FreeIpaServers,
  account: string,
): Promise<DoctorFinding | undefined> {
  const name = account.replace(/@.*$/, '');
  const [entries = [], isDenied] = await Promise.all([
    find(
      servers,
      name.includes('/') ? 'service_show' : 'user_show',
      [name],
      RAW,
    ),
    isLookupDenied(servers),
  ]);
  const granted = entries
    .flatMap(({ memberof }) => textsOf(memberof))
    .map(dn => /^cn=([^,]+),cn=permissions,/i.exec(dn)?.[1]);
  const missing = PERMISSIONS.filter(each => !granted.includes(each));
  if (missing.length > 0) {
    return missing.length < PERMISSIONS.length || isDenied
      ? finding.fail(
          `${account} lacks the FreeIPA permissions to sign or read certificates: ${missing.join(', ')}`,
          `ipa role-add-member 'Certificate gateway' --services=${name}; docs/freeipa.md has the commands that create the role`,
        )
      : undefined;
  }
  return granted.includes(REVOKE)
    ? undefined
    : finding.warn(
        `${account} lacks the FreeIPA permission "${REVOKE}": revocations get 503`,
        `ipa privilege-add-permission 'Certificate gateway' --permissions='${REVOKE}'`,
      );
}

/** Returns whether the account is not allowed to look up a certificate. */
async function isLookupDenied(servers: FreeIpaServers): Promise<boolean> {
  const [first] =
    (await find(servers, 'cert_find', [], { sizelimit: 1 })) ?? [];
  if (!first) {
    return false;
  }
  // Before 4.10, `serial_number` is a JSON number, which loses digits.
  const args = [String(first.serial_number_hex)];
  try {
    await servers.run({ method: 'cert_show', args });
    return false;
  } catch (error) {
    if (error instanceof FreeIpaError && error.fault === 'denied') {
      return true;
    }
    throw error;
  }
}

/**
 * Runs a command that reads entries.
 *
 * @returns `undefined` when FreeIPA returns an error
 */
async function find(
  servers: FreeIpaServers,
  method: string,
  args: readonly string[],
  options?: RpcRecord,
): Promise<readonly RpcRecord[] | undefined> {
  try {
    const { result } = await servers.run({ method, args, options });
    const entries = Array.isArray(result) ? result : [result];
    return entries.filter(isRpcRecord);
  } catch (error) {
    if (error instanceof FreeIpaError && error.code !== undefined) {
      return undefined;
    }
    throw error;
  }
}

function textsOf(value: RpcValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
