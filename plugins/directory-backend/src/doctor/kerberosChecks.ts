import { isError, toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  claimKerberosEnvironment,
  inspectKeytab,
  isWebService,
  type KeytabEntry,
  readKerberosConfig,
  type ServiceKeyFault,
  type ServiceKeyTest,
  testServiceKey,
} from '@directory-gateway/kerberos';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { existsSync } from 'node:fs';
import { lookup, lookupService, Resolver } from 'node:dns/promises';
import { withDeadline } from '@directory-gateway/ldap';
import type { Portal } from './Portal';

const DNS_TIMEOUT_MS = 1000;

/** State that the checks of one run share. */
class ServiceKeys {
  readonly #portal: Portal;
  #test: Promise<ServiceKeyTest> | undefined;

  constructor(portal: Portal) {
    this.#portal = portal;
  }

  get host(): string {
    return this.#portal.baseUrl.hostname.toLowerCase();
  }

  /** @throws Error when the environment contradicts the configuration. */
  get path(): string {
    const { keytab } = readKerberosConfig(this.#portal.config);
    const env = { ...this.#portal.env };
    return claimKerberosEnvironment({ keytab, env });
  }

  /** Keys of the principals of web servers. */
  async list(): Promise<readonly KeytabEntry[]> {
    const state = await inspectKeytab(this.path);
    return state.usable
      ? state.entries.filter(({ principal }) => isWebService(principal))
      : [];
  }

  /** The newest keys of `HTTP/` and a host name. */
  async ofHost(host = this.host): Promise<readonly KeytabEntry[]> {
    const keys = (await this.list()).filter(
      ({ principal }) =>
        principal.replace(/@.*/, '').toLowerCase() === `http/${host}`,
    );
    const newest = Math.max(...keys.map(({ kvno }) => kvno));
    return keys.filter(({ kvno }) => kvno === newest);
  }

  test(): Promise<ServiceKeyTest> {
    this.#test ??= this.#run();
    return this.#test;
  }

  async #run(): Promise<ServiceKeyTest> {
    const { config, env, responseMs } = this.#portal;
    const [{ principal }] = await this.ofHost();
    return await testServiceKey({
      config: { ...readKerberosConfig(config), keytab: this.path },
      principal,
      host: this.host,
      env,
      timeoutMs: responseMs,
    });
  }
}

/** Checks of the keytab, the host name and the KDC. */
export function kerberosChecks(portal: Portal): readonly DoctorCheck[] {
  const keys = new ServiceKeys(portal);
  /** Fails for some results of the self-test, which the checks share. */
  const tested = (
    id: string,
    options: {
      readonly after: readonly string[];
      readonly success: string;
      readonly faults: readonly ServiceKeyFault[];
    },
  ): DoctorCheck => ({
    id,
    after: options.after,
    async run() {
      const test = await keys.test();
      return test.outcome === 'failed' && options.faults.includes(test.fault)
        ? await explainFault(test, keys)
        : finding.ok(options.success);
    },
  });
  return [
    {
      id: 'host-name',
      after: ['base-url'],
      run: () => checkHostName(keys),
    },
    { id: 'krb5-config', run: async () => checkKrb5Config(portal.env) },
    { id: 'keytab', run: () => checkKeytab(keys) },
    {
      id: 'keytab-principal',
      after: ['base-url', 'keytab'],
      run: () => checkPrincipals(portal, keys),
    },
    {
      id: 'keytab-encryption',
      after: ['keytab-principal'],
      run: () => checkEncryption(keys),
    },
    tested('kdc', {
      after: ['krb5-config', 'keytab-principal'],
      success: 'A KDC of the realm responds',
      faults: ['kdc_unknown', 'kdc_unreachable', 'kdc_failed', 'configuration'],
    }),
    tested('service-principal', {
      after: ['kdc'],
      success: 'The KDC knows the principal',
      faults: ['principal_unknown', 'principal_disabled', 'service_unknown'],
    }),
    tested('key-version', {
      after: ['service-principal', 'keytab-encryption'],
      success: 'The keytab has the current key of the KDC',
      faults: ['no_key', 'key_mismatch', 'encryption_type'],
    }),
    tested('clock', {
      after: ['key-version'],
      success: 'Within 5 minutes of the KDC',
      faults: ['clock_skew'],
    }),
    tested('kerberos-ticket', {
      after: ['clock'],
      success: 'The portal accepts a ticket for its own name',
      faults: ['realm_refused', 'other'],
    }),
  ];
}

function getKeytab(keys: ServiceKeys, host = keys.host): string {
  return `ipa-getkeytab -p HTTP/${host} -k ${keys.path}`;
}

async function explainFault(
  { fault, detail }: ServiceKeyTest & { outcome: 'failed' },
  keys: ServiceKeys,
): Promise<DoctorFinding> {
  const [{ principal, kvno }] = await keys.ofHost();
  const realm = principal.replace(/^.*@/, '');
  const name = principal.replace(/@.*$/, '');
  const explanations: Record<ServiceKeyFault, DoctorFinding> = {
    kdc_unknown: finding.fail(
      `Neither krb5.conf nor DNS lists a KDC of the realm ${realm}`,
      `add to krb5.conf: [realms] ${realm} = { kdc = ipa.example.org }, or dns_lookup_kdc = true in [libdefaults]`,
    ),
    kdc_unreachable: finding.fail(
      `No KDC of the realm ${realm} responds (${detail})`,
      'start the KDC (on the FreeIPA server: ipactl status, ipactl start), and open port 88 (TCP and UDP) in the firewall',
    ),
    kdc_failed: finding.fail(
      `A KDC of the realm ${realm} responds, but cannot read its database (${detail})`,
      'on the FreeIPA server: ipactl status, ipactl start; the KDC reads its database from the directory server',
    ),
    configuration: finding.fail(
      `krb5.conf is invalid (${detail})`,
      'correct krb5.conf; on an enrolled machine, compare it with the file from another enrolled machine',
    ),
    principal_unknown: finding.fail(
      `The KDC does not know ${principal}`,
      `ipa service-add ${name}`,
      getKeytab(keys),
    ),
    principal_disabled: finding.fail(
      `The KDC has disabled ${principal} (${detail})`,
      `ipa service-show ${name} --all --raw shows krbPrincipalExpiration and krbTicketFlags`,
      `on the FreeIPA server: kadmin.local -q 'modprinc +allow_tix -expire never ${name}'`,
    ),
    service_unknown: finding.fail(
      `Clients on this machine request a ticket for another name (${detail})`,
      `ipa service-add-principal ${name} HTTP/NAME and add its key to ${keys.path}, or set dns_canonicalize_hostname = false in krb5.conf`,
    ),
    no_key: finding.fail(
      `The KDC has no key of ${principal}, for example after ipa service-disable (${detail})`,
      `${getKeytab(keys)} creates a key`,
    ),
    key_mismatch: finding.fail(
      `The key of ${principal} in the KDC is not in the keytab (key version ${kvno})`,
      `${getKeytab(
        keys,
      )} creates a new key; with several machines, copy the newest keytab, or retrieve the key: ipa service-allow-retrieve-keytab ${name} --users=admin, then ipa-getkeytab --retrieve`,
    ),
    encryption_type: finding.fail(
      `The KDC and this machine have no encryption type in common (${detail})`,
      `${getKeytab(
        keys,
      )} -e aes256-cts-hmac-sha1-96, and check permitted_enctypes in krb5.conf`,
    ),
    clock_skew: finding.fail(
      'The clocks of this machine and of the KDC differ by more than 5 minutes',
      'chronyc makestep here and on the FreeIPA server; chronyc tracking shows the difference',
    ),
    realm_refused: finding.fail(
      `Tickets of the realm ${realm} are refused`,
      `set kerberos.realm: ${realm}, or replace the keytab with one of the configured realm`,
    ),
    other: finding.fail(
      `A ticket for ${principal} is not accepted (${detail})`,
      'correct the problem that the message describes, for example the folder of the replay cache (KRB5RCACHENAME)',
    ),
  };
  return explanations[fault];
}

function checkKrb5Config(env: NodeJS.ProcessEnv): DoctorFinding {
  const files = (env.KRB5_CONFIG || '/etc/krb5.conf').split(':');
  const found = files.filter(existsSync);
  if (found.length > 0) {
    return finding.ok(found.join(', '));
  }
  return env.KRB5_CONFIG
    ? finding.fail(
        `KRB5_CONFIG names ${env.KRB5_CONFIG}, which does not exist`,
        'unset KRB5_CONFIG, or set it to the krb5.conf of the realm',
      )
    : finding.warn(
        '/etc/krb5.conf does not exist; the library finds the KDC by DNS only',
        "copy the FreeIPA server's /etc/krb5.conf, or enroll this machine: ipa-client-install",
      );
}

async function checkKeytab(keys: ServiceKeys): Promise<DoctorFinding> {
  let path: string;
  try {
    path = keys.path;
  } catch (error) {
    return finding.fail(
      toError(error).message,
      'unset KRB5_KTNAME, KRB5RCACHENAME and KRB5RCACHETYPE in the environment of the portal',
    );
  }
  const state = await inspectKeytab(path);
  if (!state.usable) {
    return finding.fail(
      state.problem.replace(/: provide one .*$/, ''),
      `kinit admin; ${getKeytab(keys)}`,
      `chown the file to the portal's user; chmod 600 ${path}`,
    );
  }
  try {
    await checkSecretFile(path, { key: 'kerberos.keytab' });
  } catch (error) {
    return finding.fail(
      isError(error) ? error.message.replace(/: run chmod.*$/, '') : path,
      `chmod 600 ${path}`,
      `replace the key if other users may have read it: ${getKeytab(keys)}`,
    );
  }
  return finding.ok(path);
}

async function checkPrincipals(
  portal: Portal,
  keys: ServiceKeys,
): Promise<DoctorFinding> {
  const add = [`ipa service-add HTTP/${keys.host}`, getKeytab(keys)];
  const names = [
    ...new Set((await keys.list()).map(({ principal }) => principal)),
  ];
  if (names.length === 0) {
    return finding.fail(
      `${keys.path} has no key of an HTTP/ principal`,
      ...add,
    );
  }
  const [own] = await keys.ofHost();
  if (!own) {
    return finding.fail(
      `${keys.path} has keys of ${names.join(', ')}, but not of HTTP/${
        keys.host
      }, the host of backend.baseUrl`,
      ...add,
    );
  }
  const realms = [...new Set(names.map(name => name.replace(/^.*@/, '')))];
  const { realm } = readKerberosConfig(portal.config);
  if (realm === undefined && realms.length > 1) {
    return finding.fail(
      `${keys.path} has HTTP/ keys for several realms (${realms.join(', ')})`,
      `set kerberos.realm to the portal's realm, for example ${realms[0]}`,
    );
  }
  return realm !== undefined && !realms.includes(realm)
    ? finding.fail(
        `kerberos.realm is ${realm}, but ${keys.path} has keys of ${realms.join(
          ', ',
        )} only`,
        `set kerberos.realm: ${realms[0]}, or replace the keytab`,
      )
    : finding.ok(`${own.principal}, key version ${own.kvno}`);
}

async function checkEncryption(keys: ServiceKeys): Promise<DoctorFinding> {
  const own = await keys.ofHost();
  const types = [...new Set(own.map(({ encryptionType }) => encryptionType))];
  const weak = own.filter(({ isWeak }) => isWeak);
  const message = types.join(', ');
  const renew = `${getKeytab(
    keys,
  )} -e aes256-cts-hmac-sha1-96 -e aes128-cts-hmac-sha1-96`;
  if (weak.length === 0) {
    return finding.ok(message);
  }
  return weak.length === own.length
    ? finding.fail(
        `The keys of HTTP/${keys.host} have only deprecated encryption types (${message})`,
        renew,
      )
    : finding.warn(
        `Keys of HTTP/${keys.host} have deprecated encryption types (${weak
          .map(({ encryptionType }) => encryptionType)
          .join(', ')})`,
        renew,
      );
}

/**
 * MIT Kerberos and browsers follow aliases before they request a ticket, and
 * with `rdns = true` also the reverse name of the address.
 */
async function checkHostName(keys: ServiceKeys): Promise<DoctorFinding> {
  const { host } = keys;
  if (host === 'localhost') {
    return finding.ok('localhost');
  }
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 });
  const [addresses, aliases] = await Promise.all([
    lookup(host, { all: true }).catch(() => []),
    resolver.resolveCname(host).catch(() => []),
  ]);
  const hasNoKey = async (name: string) =>
    (await keys.ofHost(name)).length === 0;
  for (const alias of aliases.map(name => name.toLowerCase())) {
    if (await hasNoKey(alias)) {
      return finding.warn(
        `${host} is an alias of ${alias}, and many clients request a ticket for HTTP/${alias}, which is not in the keytab`,
        `replace the CNAME record with an address record, or: ipa service-add HTTP/${alias} --force; ${getKeytab(
          keys,
          alias,
        )}`,
      );
    }
  }
  if (addresses.length === 0) {
    return finding.warn(
      `${host}, the host of backend.baseUrl, cannot be resolved on this machine`,
      `ipa dnsrecord-add ZONE NAME --a-rec=ADDRESS, or add ${host} to /etc/hosts`,
    );
  }
  // As in the Kerberos library, the first name of a line in /etc/hosts, whose
  // aliases `Resolver.reverse()` would return.
  const reverse = await Promise.all(
    addresses.map(({ address }) =>
      withDeadline(lookupService(address, 0), {
        ms: DNS_TIMEOUT_MS,
        error: () => new Error('The DNS server did not respond'),
      }).then(
        ({ hostname }) => hostname.toLowerCase(),
        () => host,
      ),
    ),
  );
  const others = reverse.filter(name => name !== host);
  return finding.ok(
    reverse.includes(host) || others.length === 0
      ? addresses[0].address
      : `${addresses[0].address}; clients with rdns = true in krb5.conf request HTTP/${others[0]}`,
  );
}
