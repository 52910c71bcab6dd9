/**
 * The check of the embedded CA for `directory-doctor`.
 *
 * @packageDocumentation
 */
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CaIssuer } from './CaIssuer';
import { BLOCK, readEmbeddedCaConfig } from './config';

/** Time for creating and distributing a new intermediate. */
const EXPIRY_WARNING_MS = 90 * 24 * 60 * 60 * 1000;

/**
 * The check of the embedded CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  { id: 'embedded-ca', after: ['base-url'], run: check },
];

async function check(context: DoctorContext): Promise<DoctorFinding> {
  const config = readEmbeddedCaConfig(context.config);
  if (!config) {
    return finding.skip(`${BLOCK} is not configured`);
  }
  const all = await Promise.all(config.issuers.map(CaIssuer.read));
  const issuers = all.filter(({ issuer }) => issuer);
  for (const issuer of issuers) {
    await issuer.openKey();
    // The portal saves CRLs beside the key.
    await access(dirname(issuer.files.keyFile!), constants.W_OK);
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
  const { origin } = new URL(context.config.getString('backend.baseUrl'));
  const { publicUrl = `${origin}/api/directory` } = config;
  for (const issuer of issuers) {
    const problem = await checkCrl(issuer, { ...context, publicUrl });
    if (problem) {
      return problem;
    }
  }
  return context.env.NODE_ENV === 'production'
    ? finding.warn(
        `The key of ${subject} is in the process of the portal, together with all plugins`,
        'accept the risk, or use FreeIPA or step-ca: docs/security.md describes it',
      )
    : finding.ok(subject);
}

/**
 * Reads the CRL of an issuer where clients read it, without credentials. There
 * is none while the portal is stopped.
 */
async function checkCrl(
  { issuer, name }: CaIssuer,
  {
    publicUrl,
    responseMs,
  }: Pick<DoctorContext, 'responseMs'> & { readonly publicUrl: string },
): Promise<DoctorFinding | undefined> {
  const url = `${publicUrl}/ca/${name}/crl`;
  const response = await fetch(url, {
    redirect: 'manual',
    signal: AbortSignal.timeout(responseMs),
  }).catch(() => undefined);
  if (!response) {
    return undefined;
  }
  if (response.status !== 200) {
    return finding.warn(
      `${url}, the CRL URL in certificates, returns ${response.status}`,
      'start the portal with the embedded CA; a proxy in front of it must pass this URL without credentials',
    );
  }
  const crl = Buffer.from(await response.arrayBuffer());
  const { nextUpdate } = await issuer!.readRevocationList(crl);
  return nextUpdate.getTime() < Date.now()
    ? finding.fail(
        `The CRL at ${url} has expired`,
        'look for errors of the embedded CA in the log of the portal',
      )
    : undefined;
}
