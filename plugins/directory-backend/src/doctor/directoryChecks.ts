import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  explainConnectionError,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { DirectoryProbe, type MissingRights } from '@directory-gateway/ldap';
import type { Portal } from './Portal';

/** What the checks query; a {@link DirectoryProbe} outside of tests. */
export type Probe = Omit<DirectoryProbe, 'close'>;

/**
 * Checks of the directory servers and of the service account, each of which
 * depends on the one before.
 */
export function directoryChecks(
  portal: Portal,
  probe: Probe = new DirectoryProbe({
    ...portal.directory,
    timeoutMs: portal.responseMs,
  }),
): readonly DoctorCheck[] {
  const checks = [
    ['ldap-bind', checkBind],
    ['base-dn', checkBaseDn],
    ['ldap-rights', checkRights],
    ['ldap-position', checkPosition],
  ] as const;
  return checks.map(([id, check], index) => ({
    id,
    after: checks.slice(0, index).map(([earlier]) => earlier),
    run: () => check(probe, portal),
  }));
}

/** Warns when one of several servers cannot be used. */
async function checkBind(
  probe: Probe,
  { directory }: Portal,
): Promise<DoctorFinding> {
  const { bindDn } = directory.ldap;
  const results = await probe.bind();
  const failed = results.filter(({ error }) => error);
  if (failed.length === 0) {
    const urls = results.map(({ url }) => url).join(', ');
    return finding.ok(`${bindDn} at ${urls}`);
  }
  const findings = failed.map(({ url, error, isRefused }) =>
    isRefused
      ? finding.fail(
          `${url}: ${toError(error?.cause).message}, ${bindDn}`,
          'try the password with ldapwhoami -x -W; 49 is a wrong password, 53 or 19 a locked account',
        )
      : explainConnectionError(error, {
          url,
          urlKey: 'directory.ldap.servers',
          caKey: 'directory.ldap.caFile',
        }),
  );
  return {
    status: failed.length < results.length ? 'warn' : 'fail',
    message: findings.map(({ message }) => message).join('; '),
    fix: findings[0].fix,
  };
}

async function checkBaseDn(
  probe: Probe,
  { directory }: Portal,
): Promise<DoctorFinding> {
  const { baseDn } = directory.ldap;
  if (await probe.hasUsers()) {
    return finding.ok(baseDn);
  }
  const suffixes = await probe.suffixes();
  return finding.fail(
    `The directory has no users below ${baseDn} (directory.ldap.baseDn)`,
    `set directory.ldap.baseDn: ${suffixes.join(' or ') || 'the output of ipa env basedn'}`,
  );
}

async function checkRights(
  probe: Probe,
  { directory }: Portal,
): Promise<DoctorFinding> {
  const { baseDn, bindDn } = directory.ldap;
  const names = await probe.missingNames();
  if (names.length > 0) {
    return finding.fail(
      `The directory's schema lacks ${names.join(', ')}`,
      'install freeipa-fas, set directory.schema: freeipa, or correct directory.attributes',
    );
  }
  for (const [status, consequence, rights] of [
    ['fail', 'every request returns 503', await probe.missingRights()],
    ['warn', 'the fields are absent', await probe.unreadableFields()],
  ] as const) {
    const lacking = rights.filter(({ attributes }) => attributes.length > 0);
    if (lacking.length > 0) {
      const missing = lacking
        .map(({ kind, attributes }) => `${attributes.join(', ')} of ${kind}`)
        .join(' and ');
      return {
        status,
        message: `${bindDn} is not allowed to read and search ${missing}; ${consequence}`,
        fix: permissionCommand(lacking[0], baseDn),
      };
    }
  }
  return finding.ok(`${bindDn} is allowed to read all fields`);
}

/** Returns the FreeIPA command that lets all accounts read attributes. */
function permissionCommand(
  { kind, attributes }: MissingRights,
  baseDn: string,
): string {
  const targets = {
    users: '--type=user',
    groups: '--type=group',
    agreements: `--subtree='cn=fasagreements,${baseDn}'`,
  };
  const list = attributes.map(name => `--attrs=${name}`).join(' ');
  return `ipa permission-add 'Read ${attributes.join(' ')} of ${kind}' --bindtype=all --right={read,search,compare} ${list} ${targets[kind]}`;
}

async function checkPosition(probe: Probe): Promise<DoctorFinding> {
  return (await probe.hasPositions())
    ? finding.ok('The replica finds changes by update sequence numbers (USNs)')
    : finding.warn(
        'The server has no update sequence numbers (USNs), or the service account is not allowed to search for entryusn, so the replica finds changes only by full syncs',
        'dsconf INSTANCE plugin usn enable, and restart the server; or restore the permissions for entryusn (docs/freeipa.md)',
      );
}
