/**
 * Checks of FreeIPA's CA for `directory-doctor`.
 *
 * @packageDocumentation
 */
import type { Config } from '@backstage/config';
import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  explainConnectionError,
  finding,
  silentLogger,
} from '@directory-gateway/backstage-plugin-directory-node';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { access, readFile } from 'node:fs/promises';
import { systemClock } from './Clock';
import { FreeIpaError } from './errors';
import { type FreeIpaConfig, readFreeIpaConfig } from './FreeIpaConfig';
import { FreeIpaServers } from './FreeIpaServers';
import type { RpcCommand } from './rpc';

const BLOCK = 'directory.certificates.freeipa';

/** Shorter than that of the backend: the doctor finishes within 5 seconds. */
const REQUEST_TIMEOUT_MS = 3000;

const SERVER_FIX =
  'on the FreeIPA server: ipactl status, ipactl restart; the first response after a restart takes 10 to 20 seconds';

/** Connects to servers in one session of the gateway's account. */
const connect = (config: FreeIpaConfig) =>
  new FreeIpaServers({ config, logger: silentLogger, clock: systemClock });

const showProfile = (name: string): RpcCommand => ({
  method: 'certprofile_show',
  args: [name],
});

/**
 * The checks of FreeIPA as the CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  check('freeipa-ca-config', [], checkFiles),
  check(
    'freeipa-ca-login',
    ['freeipa-ca-config', 'kdc', 'service-principal', 'key-version'],
    checkLogin,
  ),
  check('freeipa-ca-profile', ['freeipa-ca-login'], checkProfiles),
];

function check(
  id: string,
  after: readonly string[],
  run: (config: FreeIpaConfig, root: Config) => Promise<DoctorFinding>,
): DoctorCheck {
  return {
    id,
    after,
    async run({ config: root }) {
      const config = readFreeIpaConfig(root);
      return config
        ? await run({ ...config, requestTimeoutMs: REQUEST_TIMEOUT_MS }, root)
        : finding.skip(`${BLOCK} is not configured`);
    },
  };
}

async function checkFiles({
  caFile,
  login,
}: FreeIpaConfig): Promise<DoctorFinding> {
  const text = await readFile(caFile, 'utf8').catch(() => '');
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    return finding.fail(
      `${caFile} (${BLOCK}.caFile) does not exist, cannot be read or is not a certificate in PEM`,
      `copy FreeIPA's /etc/ipa/ca.crt to ${caFile}`,
    );
  }
  const { kind, account, file, fileKey: key } = login;
  if (file === undefined) {
    return finding.ok('The file of the CA is readable');
  }
  try {
    await access(file);
  } catch {
    return finding.fail(
      `${file} (${key}) does not exist or cannot be read`,
      kind === 'password'
        ? `write the password of ${account} to ${file}: chmod 600 ${file}`
        : `ipa-getkeytab -p ${account} -k ${file}; chown it to the portal's user`,
    );
  }
  try {
    await checkSecretFile(file, { key });
  } catch (error) {
    const message = toError(error).message.replace(/: run chmod.*$/, '');
    return finding.fail(message, `chmod 600 ${file}`);
  }
  return finding.ok('The files of the CA and of the login are readable');
}

/** Logs in to each server. */
async function checkLogin(config: FreeIpaConfig): Promise<DoctorFinding> {
  const { login, servers } = config;
  const findings = await Promise.all(
    servers.map(server => checkServer(server, config)),
  );
  const failed = findings.filter(({ status }) => status === 'fail');
  return failed.length === 0
    ? finding.ok(`As ${login.account} at ${servers.join(', ')}`)
    : {
        status: failed.length < servers.length ? 'warn' : 'fail',
        message: failed.map(({ message }) => message).join('; '),
        fix: failed.flatMap(({ fix = [] }) => fix),
      };
}

async function checkServer(
  url: string,
  config: FreeIpaConfig,
): Promise<DoctorFinding> {
  try {
    // FreeIPA's default profile, which every server has.
    const command = showProfile('caIPAserviceCert');
    await connect({ ...config, servers: [url] }).run(command);
  } catch (error) {
    if (!(error instanceof FreeIpaError)) {
      throw error;
    }
    // With a code, the command returned an error, so the login was accepted.
    if (error.code === undefined) {
      return explainLogin(url, config, error);
    }
  }
  return finding.ok(url);
}

function explainLogin(
  url: string,
  { login }: FreeIpaConfig,
  error: FreeIpaError,
): DoctorFinding {
  const { fault, message } = error;
  if (fault === 'unreachable') {
    const keys = { urlKey: `${BLOCK}.servers`, caKey: `${BLOCK}.caFile` };
    return explainConnectionError(error, { url, ...keys }).finding;
  }
  if (/ status 400\b/.test(message)) {
    return finding.fail(
      `FreeIPA refuses requests: ${message}`,
      `set ${BLOCK}.servers to the servers' own names, not an alias`,
    );
  }
  if (fault !== 'credentials' && !/Kerberos ticket|status 4/.test(message)) {
    return finding.fail(`FreeIPA does not respond: ${message}`, SERVER_FIX);
  }
  const { kind, account, file } = login;
  return finding.fail(
    `FreeIPA does not accept the login of ${account}: ${message}`,
    kind === 'password'
      ? `try it: kinit ${account}; reset it: ipa passwd ${account}, then change it once`
      : `try it: kinit -k -t ${file} ${account} && curl --negotiate -u : ${url}/ipa/session/login_kerberos; renew the keytab: ipa-getkeytab -p ${account} -k ${file}`,
  );
}

async function checkProfiles(
  config: FreeIpaConfig,
  root: Config,
): Promise<DoctorFinding> {
  const { cacn } = config;
  const names = root
    .getOptionalConfigArray('directory.certificates.profiles')
    ?.map(profile => profile.getString('name')) ?? ['userCerts'];
  const servers = connect(config);
  const missing: string[] = [];
  try {
    // FreeIPA queries Dogtag for `ca_show`.
    if (!(await exists(servers, { method: 'ca_show', args: [cacn] }))) {
      return finding.fail(
        `FreeIPA does not have the CA ${cacn} (${BLOCK}.cacn)`,
        'run ipa ca-find to list the CAs, and correct the name',
      );
    }
    for (const name of names) {
      if (!(await exists(servers, showProfile(name)))) {
        missing.push(name);
      }
    }
  } catch (error) {
    return finding.fail(
      `The CA of FreeIPA does not respond: ${toError(error).message}`,
      SERVER_FIX,
    );
  }
  return missing.length === 0
    ? finding.ok(names.join(', '))
    : finding.fail(
        `FreeIPA does not have the certificate profile ${missing.join(', ')} (directory.certificates.profiles)`,
        ...missing.map(
          name =>
            `ipa certprofile-import ${name} --file ${name}.cfg --store=true`,
        ),
        'run ipa certprofile-find to list the profiles, and correct the name',
      );
}

/** Returns whether FreeIPA has the entry that a command reads. */
async function exists(
  servers: FreeIpaServers,
  command: RpcCommand,
): Promise<boolean> {
  try {
    await servers.run(command);
    return true;
  } catch (error) {
    if (error instanceof FreeIpaError && error.code === 4001) {
      return false;
    }
    throw error;
  }
}
