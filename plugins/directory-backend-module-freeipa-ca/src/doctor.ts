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
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:tls';
import { caShow, certprofileShow } from './commands';
import { type FreeIpaConfig, readFreeIpaConfig } from './FreeIpaConfig';
import { KerberosLogin } from './login/KerberosLogin';
import { PasswordLogin } from './login/PasswordLogin';
import { systemClock } from './rpc/Clock';
import { NoResultError, RpcError } from './rpc/errors';
import { FreeIpaServer } from './rpc/FreeIpaServer';
import { FreeIpaServers } from './rpc/FreeIpaServers';
import { HttpsClient } from './rpc/HttpsClient';
import type { RpcCommand } from './rpc/RpcCommand';

const BLOCK = 'directory.certificates.freeipa';

/**
 * Shorter than those of the backend, so that the doctor finishes within 5
 * seconds.
 */
const TIMEOUTS = { connectTimeoutMs: 2000, requestTimeoutMs: 3000 };

const NOT_CONFIGURED = finding.skip(`${BLOCK} is not configured`);

/**
 * The checks of FreeIPA as the CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  check('freeipa-ca-config', [], checkConfig),
  check('freeipa-ca-server', ['freeipa-ca-config'], checkServers),
  check(
    'freeipa-ca-login',
    ['freeipa-ca-server', 'kdc', 'service-principal', 'key-version'],
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
      return config ? await run(config, root) : NOT_CONFIGURED;
    },
  };
}

async function checkConfig({
  caFile,
  login,
}: FreeIpaConfig): Promise<DoctorFinding> {
  if (caFile !== undefined) {
    const text = await readFile(caFile, 'utf8').catch(() => '');
    if (!text.includes('-----BEGIN CERTIFICATE-----')) {
      return finding.fail(
        `${caFile} (${BLOCK}.caFile) does not exist, cannot be read or is not a certificate in PEM`,
        `copy FreeIPA's /etc/ipa/ca.crt to ${caFile}`,
      );
    }
  }
  const [key, path] =
    login.kind === 'password'
      ? ['passwordFile', login.passwordFile]
      : ['keytab', login.keytab];
  if (path !== undefined) {
    const isReadable = await readFile(path).then(
      () => true,
      () => false,
    );
    if (!isReadable) {
      return finding.fail(
        `${path} (${BLOCK}.login.${key}) does not exist or cannot be read`,
        login.kind === 'password'
          ? `write the password of ${login.username} to ${path}: chmod 600 ${path}`
          : `ipa-getkeytab -p ${login.principal} -k ${path}; chown it to the portal's user`,
      );
    }
    try {
      await checkSecretFile(path, { key: `${BLOCK}.login.${key}` });
    } catch (error) {
      return finding.fail(
        toError(error).message.replace(/: run chmod.*$/, ''),
        `chmod 600 ${path}`,
      );
    }
  }
  return finding.ok('The files of the CA and of the login are readable');
}

/** Connects with TLS to each server. */
async function checkServers({
  caFile,
  servers,
}: FreeIpaConfig): Promise<DoctorFinding> {
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8');
  const findings = await Promise.all(
    servers.map(async url => {
      const { hostname: host, port } = new URL(url);
      const socket = connect({
        host,
        servername: host,
        port: Number(port || 443),
        ca,
        timeout: TIMEOUTS.connectTimeoutMs,
      });
      socket.once('timeout', () => socket.destroy(new Error('timeout')));
      try {
        await once(socket, 'secureConnect');
        return [];
      } catch (error) {
        const options = {
          url,
          urlKey: `${BLOCK}.servers`,
          caKey: `${BLOCK}.caFile`,
        };
        return [explainConnectionError(error, options).finding];
      } finally {
        socket.on('error', () => {}).destroy();
      }
    }),
  );
  const failed = findings.flat();
  return failed.length === 0
    ? finding.ok(servers.join(', '))
    : {
        status: failed.length < servers.length ? 'warn' : 'fail',
        message: failed.map(({ message }) => message).join('; '),
        fix: failed.flatMap(({ fix = [] }) => fix),
      };
}

/** Returns the servers for commands in one session of the gateway's account. */
function serversOf(config: FreeIpaConfig): FreeIpaServers {
  const { login } = config;
  const https = new HttpsClient({ ...config, ...TIMEOUTS });
  const account =
    login.kind === 'kerberos'
      ? KerberosLogin.create(login)
      : new PasswordLogin(login);
  return new FreeIpaServers({
    servers: config.servers.map(
      origin => new FreeIpaServer({ origin, https, login: account }),
    ),
    logger: silentLogger,
    clock: systemClock,
  });
}

const SERVER_FIX =
  'on the FreeIPA server: ipactl status, ipactl restart; the first response after a restart takes 10 to 20 seconds';

/** Returns whether FreeIPA has the entry that a command reads. */
async function exists(
  servers: FreeIpaServers,
  command: RpcCommand,
): Promise<boolean> {
  try {
    await servers.read(command);
    return true;
  } catch (error) {
    if (error instanceof RpcError && error.code === 4001) {
      return false;
    }
    throw error;
  }
}

/** FreeIPA's default profile, which every server has. */
const EXISTING_PROFILE = 'caIPAserviceCert';

function loginFix({ login, servers }: FreeIpaConfig): string {
  if (login.kind === 'password') {
    return `try it: kinit ${login.username}; reset it: ipa passwd ${login.username}, then change it once`;
  }
  const { principal, keytab } = login;
  return `try it: kinit -k -t ${keytab} ${principal} && curl --negotiate -u : ${servers[0]}/ipa/session/login_kerberos; renew the keytab: ipa-getkeytab -p ${principal} -k ${keytab}`;
}

async function checkLogin(config: FreeIpaConfig): Promise<DoctorFinding> {
  const { login } = config;
  const name = login.kind === 'password' ? login.username : login.principal;
  try {
    await serversOf(config).read(certprofileShow(EXISTING_PROFILE));
  } catch (error) {
    if (error instanceof NoResultError) {
      const { fault, message } = error;
      const isRefused =
        fault === 'credentials' || /Kerberos ticket|status 4/.test(message);
      return isRefused
        ? finding.fail(
            `FreeIPA does not accept the login of ${name}: ${message}`,
            / status 400\b/.test(message)
              ? `set ${BLOCK}.servers to the servers' own names, not an alias`
              : loginFix(config),
          )
        : finding.fail(`FreeIPA does not respond: ${message}`, SERVER_FIX);
    }
    if (!(error instanceof RpcError)) {
      throw error;
    }
    // The command returned an error, so the login was accepted.
  }
  return finding.ok(`As ${name}`);
}

async function checkProfiles(
  config: FreeIpaConfig,
  root: Config,
): Promise<DoctorFinding> {
  const { cacn } = config;
  const names = root
    .getOptionalConfigArray('directory.certificates.profiles')
    ?.map(profile => profile.getString('name')) ?? ['userCerts'];
  const servers = serversOf(config);
  const missing: string[] = [];
  try {
    if (!(await exists(servers, caShow(cacn)))) {
      return finding.fail(
        `FreeIPA does not have the CA ${cacn} (${BLOCK}.cacn)`,
        'run ipa ca-find to list the CAs, and correct the name',
      );
    }
    for (const name of names) {
      if (!(await exists(servers, certprofileShow(name)))) {
        missing.push(name);
      }
    }
  } catch (error) {
    if (error instanceof NoResultError || error instanceof RpcError) {
      return finding.fail(
        `The CA of FreeIPA does not respond: ${error.message}`,
        SERVER_FIX,
      );
    }
    throw error;
  }
  return missing.length === 0
    ? finding.ok(names.join(', '))
    : finding.fail(
        `FreeIPA does not have the certificate profile ${missing.join(
          ', ',
        )} (directory.certificates.profiles)`,
        ...missing.map(
          name =>
            `ipa certprofile-import ${name} --file ${name}.cfg --store=true`,
        ),
        'run ipa certprofile-find to list the profiles, and correct the name',
      );
}
