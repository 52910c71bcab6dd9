import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  claimKerberosEnvironment,
  inspectKeytab,
  type ServiceKeyFault,
  testServiceKey,
} from '@directory-gateway/kerberos';
import { checkSecretFile } from '@directory-gateway/secret-files';
import type { Portal } from './Portal';

/** Checks of the keytab, and of a ticket for the portal itself. */
export function kerberosChecks(portal: Portal): readonly DoctorCheck[] {
  return [
    { id: 'keytab', run: () => checkKeytab(portal) },
    {
      id: 'kerberos-ticket',
      after: ['base-url', 'keytab'],
      run: () => checkTicket(portal),
    },
  ];
}

/** Returns the principal of web servers for a host name, without its realm. */
function serviceOf({ baseUrl }: Portal): string {
  return `HTTP/${baseUrl.hostname.toLowerCase()}`;
}

/** @throws Error when the environment contradicts the configuration. */
function keytabOf({ env, kerberos }: Portal): string {
  const { keytab } = kerberos;
  return claimKerberosEnvironment({ keytab, env: { ...env } });
}

/**
 * Returns the portal's principal in its keytab.
 *
 * @throws Error when the keytab does not have its key.
 */
async function readPrincipal(portal: Portal): Promise<string> {
  const keytab = keytabOf(portal);
  await checkSecretFile(keytab, { key: 'kerberos.keytab' });
  const state = await inspectKeytab(keytab);
  if (!state.usable) {
    throw new Error(state.problem);
  }
  const service = serviceOf(portal);
  const entry = state.entries.find(({ principal }) =>
    principal.toLowerCase().startsWith(`${service.toLowerCase()}@`),
  );
  if (!entry) {
    throw new Error(
      `${keytab} has no key of ${service}, the host name of backend.baseUrl`,
    );
  }
  return entry.principal;
}

async function checkKeytab(portal: Portal): Promise<DoctorFinding> {
  try {
    return finding.ok(await readPrincipal(portal));
  } catch (error) {
    return finding.fail(
      toError(error).message,
      `the file must belong to the portal's user and have mode 600; ipa-getkeytab -p ${serviceOf(portal)} -k FILE creates a key`,
    );
  }
}

/** Gets a ticket from the KDC with the portal's key, and accepts it. */
async function checkTicket(portal: Portal): Promise<DoctorFinding> {
  const { baseUrl, env, kerberos, responseMs } = portal;
  const keytab = keytabOf(portal);
  const principal = await readPrincipal(portal);
  const test = await testServiceKey({
    config: { ...kerberos, keytab },
    principal,
    host: baseUrl.hostname.toLowerCase(),
    env,
    timeoutMs: responseMs,
  });
  if (test.outcome === 'accepted') {
    return finding.ok(`The portal accepts a ticket for ${principal}`);
  }
  const [service, realm] = principal.split('@');
  const getKeytab = `ipa-getkeytab -p ${service} -k ${keytab}`;
  const fixes: Record<ServiceKeyFault, string> = {
    kdc_unknown: `add a KDC to krb5.conf: [realms] ${realm} = { kdc = ipa.example.org }, or dns_lookup_kdc = true in [libdefaults]`,
    kdc_unreachable:
      'start the KDC (FreeIPA: ipactl status, ipactl start), or open port 88 (TCP and UDP) in the firewall',
    kdc_failed:
      'start the directory server, from which the KDC reads: ipactl status, ipactl start',
    configuration:
      'correct krb5.conf (KRB5_CONFIG); every enrolled machine has a valid /etc/krb5.conf',
    principal_unknown: `ipa service-add ${service}; ${getKeytab}`,
    principal_disabled: `unlock the service: ipa service-show ${service} --all --raw shows krbPrincipalExpiration and krbTicketFlags`,
    service_unknown: `replace the alias of the host name in DNS by an address record, because clients request a ticket for the other name`,
    no_key: `create a key, which the KDC does not have after ipa service-disable: ${getKeytab}`,
    key_mismatch: `create a new key: ${getKeytab}; with several machines, copy the newest keytab instead`,
    encryption_type: `${getKeytab} -e aes256-cts-hmac-sha1-96, or correct permitted_enctypes in krb5.conf`,
    clock_skew:
      'set the clocks of this machine and of the KDC, which differ by more than 5 minutes: chronyc makestep',
    realm_refused: `set kerberos.realm: ${realm}, or replace the keytab with one of the configured realm`,
    other:
      'correct what the message describes, for example the folder of the replay cache (KRB5RCACHENAME)',
  };
  return finding.fail(
    `The portal gets no valid ticket for ${principal}: ${test.detail}`,
    fixes[test.fault],
  );
}
