/**
 * Checks of the embedded CA for `directory-doctor`.
 *
 * @packageDocumentation
 */
import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CaIssuer } from './CaIssuer';
import { readEmbeddedCaConfig } from './config';

const BLOCK = 'directory.certificates.embedded';

/** Time for creating and distributing a new intermediate. */
const EXPIRY_WARNING_MS = 90 * 24 * 60 * 60 * 1000;

/** Time for the portal to respond. */
const CRL_TIMEOUT_MS = 2000;

type Evaluate = (
  /** Issuers with a key. */
  issuers: readonly CaIssuer[],
  context: DoctorContext,
) => Promise<DoctorFinding>;

/**
 * The checks of the embedded CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  { id: 'embedded-ca-key', run: check(checkKeys) },
  {
    id: 'embedded-ca-crl',
    after: ['base-url', 'embedded-ca-key'],
    run: check(checkCrls),
  },
];

function check(evaluate: Evaluate): DoctorCheck['run'] {
  return async context => {
    const config = readEmbeddedCaConfig(context.config);
    if (!config) {
      return finding.skip(`${BLOCK} is not configured`);
    }
    const issuers = await Promise.all(config.issuers.map(CaIssuer.read));
    return await evaluate(
      issuers.filter(({ issuer }) => issuer),
      context,
    );
  };
}

/** Checks the keys, their folders, and the validity of the first issuer. */
async function checkKeys(
  ...[issuers, { env }]: Parameters<Evaluate>
): Promise<DoctorFinding> {
  for (const issuer of issuers) {
    const { keyFile = '' } = issuer.files;
    const folder = dirname(keyFile);
    try {
      await issuer.openKey();
      // The portal saves CRLs beside the key.
      await access(folder, constants.W_OK);
    } catch (error) {
      return finding.fail(
        toError(error).message,
        `restore the key, its passphrase and the chain from a backup, with the paths in ${BLOCK}`,
        `chown the key and its folder to the portal's user; chmod 600 ${keyFile}; chmod 700 ${folder}`,
      );
    }
  }
  const [{ subject, validity }] = issuers;
  const remainingMs = validity.notAfter - Date.now();
  if (remainingMs < EXPIRY_WARNING_MS) {
    const until = new Date(validity.notAfter).toISOString().slice(0, 10);
    return finding[remainingMs < 0 ? 'fail' : 'warn'](
      `The certificates of ${subject} and its issuers are valid until ${until}`,
      `create a new intermediate and put it first in ${BLOCK}.issuers; keep the old one until its certificates have expired`,
    );
  }
  return env.NODE_ENV === 'production'
    ? finding.warn(
        `The key of ${subject} is in the process of the portal, together with all plugins`,
        'accept the risk, or use FreeIPA or step-ca: docs/security.md describes it',
      )
    : finding.ok(subject);
}

/** Checks the CRLs at the URLs where clients read them without credentials. */
async function checkCrls(
  ...[issuers, { config }]: Parameters<Evaluate>
): Promise<DoctorFinding> {
  const { origin } = new URL(config.getString('backend.baseUrl'));
  for (const { issuer, name } of issuers) {
    const url = `${origin}/api/directory/ca/${name}/crl`;
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(CRL_TIMEOUT_MS),
    }).catch(() => undefined);
    if (!response) {
      return finding.skip(`${url} does not respond; start the portal first`);
    }
    if (response.status !== 200) {
      return finding.warn(
        `${url}, the CRL URL in certificates, returns ${response.status}`,
        'start the portal with the embedded CA; a proxy in front of it must pass /api/directory/ca/ without credentials',
      );
    }
    const crl = Buffer.from(await response.arrayBuffer());
    const { nextUpdate } = await issuer!.readRevocationList(crl);
    if (nextUpdate.getTime() < Date.now()) {
      return finding.fail(
        `The CRL at ${url} has expired`,
        'look for errors of the embedded CA in the log of the portal',
      );
    }
  }
  return finding.ok(`${issuers.length} CRLs are published and valid`);
}
