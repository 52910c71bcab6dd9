import { isError, toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readPemBlocks } from '@directory-gateway/x509';
import { X509Certificate } from 'node:crypto';
import { readCa, readPassword } from '@directory-gateway/ldap';
import { type DirectoryServers, type Step, STEPS } from './DirectoryServers';
import type { Portal } from './Portal';

/** certmonger renews FreeIPA's certificates 28 days before they expire. */
const EXPIRY_WARNING_MS = 14 * 24 * 60 * 60 * 1000;

/**
 * Returns the finding of a step: `ok` when it failed on no server, `warn` when
 * another server is usable, otherwise `fail`.
 */
async function stepFinding(
  servers: DirectoryServers,
  step: Step,
  success?: string,
): Promise<DoctorFinding> {
  const probes = await servers.probes();
  const reached = probes.filter(
    probe => STEPS.indexOf(probe.step) >= STEPS.indexOf(step),
  );
  const failed = reached.filter(probe => probe.step === step);
  if (failed.length === 0) {
    return finding.ok(success ?? reached.map(({ url }) => url).join(', '));
  }
  const isUsable = probes.some(probe => probe.step === 'bound');
  return {
    status: isUsable ? 'warn' : 'fail',
    message: failed.map(probe => probe.finding!.message).join('; '),
    fix: failed.flatMap(probe => probe.finding!.fix ?? []),
  };
}

async function checkCaFile(portal: Portal): Promise<DoctorFinding> {
  const { ldap } = portal.directory;
  const { caFile } = ldap;
  if (caFile === undefined) {
    return finding.ok('Not set: the CAs of Node.js are trusted');
  }
  const fix = `copy the CA of the directory servers to ${caFile}; FreeIPA's is /etc/ipa/ca.crt on every enrolled machine`;
  let pem: string;
  try {
    pem = (await readCa(ldap)) ?? '';
  } catch (error) {
    const { cause } = toError(error);
    return finding.fail(
      isError(cause)
        ? `${caFile} (directory.ldap.caFile) cannot be read (${cause.code})`
        : `${caFile} (directory.ldap.caFile) is empty`,
      fix,
    );
  }
  const ends = expiriesIn(pem);
  if (ends.length === 0) {
    return finding.fail(
      `${caFile} (directory.ldap.caFile) is not a certificate in PEM`,
      fix,
    );
  }
  const latest = Math.max(...ends);
  const until = new Date(latest).toISOString().slice(0, 10);
  if (latest < Date.now()) {
    return finding.fail(
      `The CA in ${caFile} (directory.ldap.caFile) expired on ${until}`,
      'ipa-cacert-manage renew and ipa-certupdate on the FreeIPA server',
      fix,
    );
  }
  return latest < Date.now() + EXPIRY_WARNING_MS
    ? finding.warn(
        `The CA in ${caFile} (directory.ldap.caFile) expires on ${until}`,
        'ipa-cacert-manage renew and ipa-certupdate on the FreeIPA server',
        fix,
      )
    : finding.ok(`${caFile}, until ${until}`);
}

/** Expiry of each certificate in a PEM text, in epoch milliseconds. */
function expiriesIn(pem: string): readonly number[] {
  try {
    return readPemBlocks(pem, { label: 'CERTIFICATE' }).map(der =>
      Date.parse(new X509Certificate(der).validTo),
    );
  } catch {
    return [];
  }
}

async function checkPassword(portal: Portal): Promise<DoctorFinding> {
  const { bindPassword } = portal.directory.ldap;
  try {
    await readPassword({ bindPassword });
    return bindPassword.kind === 'value'
      ? finding.warn(
          'directory.ldap.bindPassword contains the password in the configuration',
          'write it to a file with mode 600 and set directory.ldap.bindPasswordFile',
        )
      : finding.ok(bindPassword.path);
  } catch (error) {
    const path = bindPassword.kind === 'file' ? bindPassword.path : '';
    const cause = isError(error) && isError(error.cause) ? error.cause : error;
    const { name, code, message } = toError(cause);
    return name === 'SecretFileError'
      ? finding.fail(
          message.replace(/: run chmod.*$/, ''),
          `chmod 600 ${path}`,
          'change the password if other users may have read it',
        )
      : finding.fail(
          code
            ? `${path} (directory.ldap.bindPasswordFile) cannot be read (${code})`
            : `${path} (directory.ldap.bindPasswordFile) is empty`,
          `write the password of the service account to ${path}, owned by the portal's user: chmod 600 ${path}`,
        );
  }
}

async function checkDns(servers: DirectoryServers): Promise<DoctorFinding> {
  const configured = servers.config.servers;
  if (configured.kind === 'srv' && (await servers.probes()).length === 0) {
    return finding.fail(
      `DNS has no usable SRV records ${configured.name} in ${configured.domain}`,
      `dig +short SRV ${configured.name} must list the servers: ipa dns-update-system-records, or set directory.ldap.servers`,
    );
  }
  return await stepFinding(servers, 'dns');
}

async function checkTls(servers: DirectoryServers): Promise<DoctorFinding> {
  const result = await stepFinding(servers, 'tls');
  if (result.status !== 'ok') {
    return result;
  }
  const probes = await servers.probes();
  const expiring = probes.filter(
    ({ certificate }) =>
      certificate &&
      Date.parse(certificate.validTo) < Date.now() + EXPIRY_WARNING_MS,
  );
  if (expiring.length > 0) {
    return finding.warn(
      expiring
        .map(
          ({ url, certificate }) =>
            `The certificate of ${new URL(url).host} expires on ${new Date(
              certificate!.validTo,
            )
              .toISOString()
              .slice(0, 10)}`,
        )
        .join('; '),
      ...expiring.map(
        ({ url }) =>
          `renew it on ${
            new URL(url).hostname
          }: getcert list, then ipa-getcert resubmit -i ID`,
      ),
    );
  }
  return probes.some(({ certificate }) => certificate)
    ? result
    : finding.ok('No TLS: the server is on this machine');
}

/** Checks of the connections to the directory servers. */
export function connectionChecks(
  portal: Portal,
  servers: DirectoryServers,
): readonly DoctorCheck[] {
  return [
    { id: 'ldap-ca-file', run: () => checkCaFile(portal) },
    { id: 'ldap-password', run: () => checkPassword(portal) },
    {
      id: 'ldap-dns',
      after: ['ldap-ca-file'],
      run: () => checkDns(servers),
    },
    {
      id: 'ldap-server',
      after: ['ldap-dns'],
      run: () => stepFinding(servers, 'connect'),
    },
    {
      id: 'ldap-tls',
      after: ['ldap-server'],
      run: () => checkTls(servers),
    },
    {
      id: 'ldap-bind',
      after: ['ldap-tls', 'ldap-password'],
      run: () => stepFinding(servers, 'bind', servers.config.bindDn),
    },
  ];
}
