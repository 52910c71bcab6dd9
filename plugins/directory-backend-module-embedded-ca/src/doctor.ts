/**
 * Checks of the embedded CA for `directory-doctor`.
 *
 * @packageDocumentation
 */
import { toError } from '@backstage/errors';
import {
  type Database,
  type DoctorCheck,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import type {
  CertificateSigner,
  IssuerDescription,
} from '@directory-gateway/ca';
import { X509Certificate } from 'node:crypto';
import { type EmbeddedCaConfig, readEmbeddedCaConfig } from './config';
import { openSigner } from './createEmbeddedCa';
import { AUTHORITIES } from './database/rows';
import { compareLog } from './issuers/issuanceLog';
import { nameOf } from './issuers/Issuers';
import { IssuerStore } from './issuers/IssuerStore';
import { RevocationStore } from './revocation/RevocationStore';

const BLOCK = 'directory.certificates.embedded';

const NOT_CONFIGURED = finding.skip(`${BLOCK} is not configured`);

/** Time for creating and distributing a new intermediate. */
const EXPIRY_WARNING_MS = 90 * 24 * 60 * 60 * 1000;

/** Time for the portal to respond. */
const CRL_TIMEOUT_MS = 2000;

/** Maximum number of serial numbers in a message. */
const MAX_SHOWN = 5;

/**
 * The checks of the embedded CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  check('embedded-ca-key', ['database'], checkKeys),
  check('embedded-ca-certificate', ['embedded-ca-key'], checkCertificates),
  check('embedded-ca-crl', ['base-url', 'embedded-ca-key'], checkCrls),
  check('embedded-ca-log', ['database', 'embedded-ca-key'], checkLog),
];

interface State {
  readonly config: EmbeddedCaConfig;
  readonly signer: CertificateSigner;
  readonly issuers: readonly IssuerDescription[];
  /** Origin of the portal. */
  readonly origin: string;
  /** `undefined` when it is not accessible or has no tables of the CA. */
  readonly database?: Database;
}

function check(
  id: string,
  after: readonly string[],
  evaluate: (state: State) => DoctorFinding | Promise<DoctorFinding>,
): DoctorCheck {
  return {
    id,
    after,
    async run(context) {
      const config = readEmbeddedCaConfig(context.config);
      if (!config) {
        return NOT_CONFIGURED;
      }
      const { origin } = new URL(context.config.getString('backend.baseUrl'));
      let signer: CertificateSigner | undefined;
      try {
        signer = await openSigner({
          config,
          publicUrl: `${origin}/api/directory`,
          warn: () => {},
        });
        const { issuers } = await signer.describe();
        const database = await context.database();
        const hasTables = await database?.schema.hasTable(AUTHORITIES);
        return await evaluate({
          config,
          signer,
          issuers,
          origin,
          database: hasTables ? database : undefined,
        });
      } catch (error) {
        const { message } = toError(error);
        return finding.fail(message, fixOf(message, config));
      } finally {
        await signer?.close();
      }
    },
  };
}

function fixOf(message: string, { signer }: EmbeddedCaConfig): string {
  if (signer.kind === 'socket') {
    return `start directory-ca with ${BLOCK}.socket in its configuration, and give the portal's user access to the folder of the socket`;
  }
  if (/accessible to other users/.test(message)) {
    const [{ keyFile }] = signer.issuers;
    return `chmod 600 ${keyFile}; chmod 700 ${signer.logFolder}`;
  }
  return `restore the key, its passphrase, the chain and the issuance log from a backup, owned by the portal's user, with the paths in ${BLOCK}`;
}

async function checkKeys({ issuers, database }: State): Promise<DoctorFinding> {
  const recorded = database ? await new IssuerStore(database).list() : [];
  const own = new Set(issuers.map(({ id }) => id));
  const missing = recorded.filter(({ id }) => !own.has(id));
  if (recorded.length > 0 && missing.length === recorded.length) {
    return finding.warn(
      `The database has records of ${
        missing.length
      } CAs, but not of the signing CA, ${subjectOf(issuers[0])}`,
      `if the key was replaced, no action is needed; otherwise restore the key of CA ${missing[0].id.slice(
        0,
        16,
      )}… from a backup`,
    );
  }
  return finding.ok(issuers.map(subjectOf).join('; '));
}

function checkCertificates({ issuers }: State): DoctorFinding {
  const [{ chain }] = issuers;
  const [first] = chain
    .map(der => new X509Certificate(der))
    .sort((a, b) => a.validToDate.getTime() - b.validToDate.getTime());
  const name = first.subject.split('\n').join(', ');
  const until = first.validToDate.toISOString().slice(0, 10);
  const renew = `create a new intermediate and put it first in ${BLOCK}.issuers; keep the old one until its certificates have expired`;
  const remainingMs = first.validToDate.getTime() - Date.now();
  if (remainingMs < 0) {
    return finding.fail(
      `The CA certificate of ${name} expired on ${until}`,
      renew,
    );
  }
  return remainingMs < EXPIRY_WARNING_MS
    ? finding.warn(`The CA certificate of ${name} expires on ${until}`, renew)
    : finding.ok(`${name}, until ${until}`);
}

/**
 * Checks the URL that certificates contain and clients read without
 * credentials.
 */
async function checkCrls({
  issuers,
  origin,
  database,
}: State): Promise<DoctorFinding> {
  const revocations = database && new RevocationStore(database);
  for (const issuer of database ? await new IssuerStore(database).list() : []) {
    const current = (await revocations?.findList(issuer.id))?.current;
    const isNeeded = (await revocations?.hasValid(issuer.id)) ?? false;
    if (isNeeded && current && current.nextUpdate.getTime() < Date.now()) {
      return finding.fail(
        `The CRL of ${subjectOf(
          issuer,
        )} has expired, and the CA has valid certificates`,
        `keep the CA in ${BLOCK}.issuers, or in those of directory-ca, until its certificates have expired`,
      );
    }
  }
  const url = `${origin}/api/directory/ca/${nameOf(issuers[0])}/crl`;
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

/** Checks that each certificate is in the issuance log and in the database. */
async function checkLog({
  database,
  signer,
  issuers,
}: State): Promise<DoctorFinding> {
  if (!database) {
    return finding.skip('The database has no records of the embedded CA');
  }
  const { onlyInLog, onlyInDatabase } = await compareLog({
    database,
    logged: signer.loggedCertificates(),
    issuerIds: issuers.map(({ id }) => id),
  });
  if (onlyInDatabase.length > 0) {
    return finding.fail(
      `The issuance log does not contain ${numbers(
        onlyInDatabase,
      )}, which are in the database`,
      'restore the issuance log from a backup; with several hosts, check that they share the log, or that each host has its own intermediate. If neither is the cause, the log was changed',
    );
  }
  return onlyInLog.length > 0
    ? finding.warn(
        `The database does not contain ${numbers(
          onlyInLog,
        )}, which are in the issuance log`,
        'start the portal: it imports them within a minute, so that they can be listed and revoked',
      )
    : finding.ok('Every certificate is in the issuance log and the database');
}

function numbers(serialNumbers: readonly bigint[]): string {
  const shown = serialNumbers.slice(0, MAX_SHOWN).join(', ');
  const rest = serialNumbers.length - MAX_SHOWN;
  return `${serialNumbers.length} certificates (${shown}${
    rest > 0 ? `, and ${rest} more` : ''
  })`;
}

function subjectOf({ chain }: Pick<IssuerDescription, 'chain'>): string {
  return new X509Certificate(chain[0]).subject.split('\n').join(', ');
}
