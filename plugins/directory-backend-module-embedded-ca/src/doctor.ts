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
import { AUTHORITIES, RecordedIssuers } from './RecordedIssuers';

const BLOCK = 'directory.certificates.embedded';

/** Time for creating and distributing a new intermediate. */
const EXPIRY_WARNING_MS = 90 * 24 * 60 * 60 * 1000;

/** Time for the portal to respond. */
const CRL_TIMEOUT_MS = 2000;

/**
 * The checks of the embedded CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  check('embedded-ca-key', [], checkKeys),
  check(
    'embedded-ca-crl',
    ['base-url', 'database', 'embedded-ca-key'],
    checkCrls,
  ),
];

function check(
  id: string,
  after: readonly string[],
  evaluate: (
    issuers: readonly CaIssuer[],
    context: DoctorContext,
  ) => Promise<DoctorFinding>,
): DoctorCheck {
  return {
    id,
    after,
    async run(context) {
      const config = readEmbeddedCaConfig(context.config);
      return config
        ? evaluate(
            await Promise.all(config.issuers.map(CaIssuer.read)),
            context,
          )
        : finding.skip(`${BLOCK} is not configured`);
    },
  };
}

/** Checks the keys, their folders, and the validity of the first issuer. */
async function checkKeys(
  issuers: readonly CaIssuer[],
  { env }: DoctorContext,
): Promise<DoctorFinding> {
  for (const issuer of issuers.filter(each => each.issuer)) {
    const { keyFile = '' } = issuer.files;
    try {
      await issuer.openKey();
      // The portal saves CRLs beside the key.
      await access(dirname(keyFile), constants.W_OK);
    } catch (error) {
      return finding.fail(
        toError(error).message,
        `restore the key, its passphrase and the chain from a backup, with the paths in ${BLOCK}`,
        `chown the key and its folder to the portal's user; chmod 600 ${keyFile}; chmod 700 ${dirname(
          keyFile,
        )}`,
      );
    }
  }
  const [{ subject, validity }] = issuers;
  const remainingMs = validity.notAfter - Date.now();
  if (remainingMs < EXPIRY_WARNING_MS) {
    const report = remainingMs < 0 ? finding.fail : finding.warn;
    return report(
      `The certificates of ${subject} are valid until ${new Date(
        validity.notAfter,
      ).toISOString()}`,
      `create a new intermediate and put it first in ${BLOCK}.issuers; keep the old one until its certificates have expired`,
    );
  }
  return env.NODE_ENV === 'production'
    ? finding.warn(
        `The key of ${subject} is in the process of the portal, together with all plugins`,
        'accept the risk, or use FreeIPA or step-ca: docs/security.md compares the CAs',
      )
    : finding.ok(subject);
}

/**
 * Checks the CRLs on record, and the URL that certificates contain and clients
 * read without credentials.
 */
async function checkCrls(
  issuers: readonly CaIssuer[],
  context: DoctorContext,
): Promise<DoctorFinding> {
  const database = await context.database();
  if (database && (await database.schema.hasTable(AUTHORITIES))) {
    const recorded = new RecordedIssuers(database);
    for (const { id, issuer, subject } of issuers) {
      const crl = issuer && (await recorded.findCrl(id));
      if (crl && crl.nextUpdate.getTime() < Date.now()) {
        return finding.fail(
          `The CRL of ${subject} has expired`,
          'start the portal, and look for errors of the embedded CA in its log',
        );
      }
    }
  }
  const { origin } = new URL(context.config.getString('backend.baseUrl'));
  const url = `${origin}/api/directory/ca/${issuers[0].name}/crl`;
  try {
    const { status } = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(CRL_TIMEOUT_MS),
    });
    return status === 200
      ? finding.ok(url)
      : finding.warn(
          `${url}, the CRL URL in certificates, returns ${status}`,
          'start the portal with the embedded CA; a proxy in front of it must pass /api/directory/ca/ without credentials',
        );
  } catch {
    return finding.skip(
      `${url} does not respond; start the portal to check it`,
    );
  }
}
