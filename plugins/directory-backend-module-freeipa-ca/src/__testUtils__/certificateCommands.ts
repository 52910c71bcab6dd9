import {
  describeCertificate,
  type StandInVersion,
} from './describeCertificate';
import type { StandInCa, StandInCertificate } from './StandInCa';

/** An error of FreeIPA's, by its code. */
export class StandInError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A call's parameters. */
export interface StandInCall {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

interface Surroundings {
  readonly ca: StandInCa;
  readonly version: StandInVersion;
}

const PROFILES = ['userCerts', 'otherCerts', 'adminCerts'];
const USERS = ['alice', 'bob'];

/** The checks of `cert_request.execute`, in its order, as far as tests go. */
export async function certRequest(
  { args, options }: StandInCall,
  { ca, version }: Surroundings,
): Promise<Record<string, unknown>> {
  const csr = Buffer.from(args[0], 'base64');
  const [username, realm] = String(options.principal).split('@');
  requireCa(options.cacn);
  if (realm !== 'EXAMPLE.TEST') {
    throw new StandInError(4005, `The realm for the principal does not match`);
  }
  if (!USERS.includes(username)) {
    const message = "The principal for this request doesn't exist.";
    throw new StandInError(4001, message);
  }
  if (options.profile_id === 'adminCerts') {
    throw new StandInError(
      2100,
      `Principal '${options.principal}' is not permitted to use CA 'ipa' with profile 'adminCerts' for certificate issuance.`,
    );
  }
  const commonName = await ca.commonNameOf(csr).catch(() => {
    throw new StandInError(
      4301,
      'Certificate operation cannot be completed: Failure decoding Certificate Signing Request: Unable to load PEM file.',
    );
  });
  if (commonName !== username) {
    const message = "invalid 'csr': DN commonName does not match user's login";
    throw new StandInError(3009, message);
  }
  if (!PROFILES.includes(String(options.profile_id))) {
    const message = `${options.profile_id}: Certificate Profile not found`;
    throw new StandInError(4001, message);
  }
  const { certificate } = await ca.issue({ csr, username });
  return {
    result: {
      ...describeCertificate({ certificate, chain: ca.shuffledChain, version }),
      request_id: '42',
      cert_request_status: 'complete',
    },
    value: '42',
    summary: null,
  };
}

/** `cert_show.execute`. */
export function certShow(
  { args, options }: StandInCall,
  { ca, version }: Surroundings,
): Record<string, unknown> {
  const serial = BigInt(args[0]);
  if (serial === 0n || args[0].length > 40) {
    const message = "invalid 'serial_number': invalid serial number 0";
    throw new StandInError(3009, message);
  }
  const entry = ca.issued.get(serial);
  if (!entry) {
    const text = `Certificate ID 0x${serial.toString(16)} not found`;
    throw version === '4.9'
      ? new StandInError(
          4301,
          `Certificate operation cannot be completed: Unable to communicate with CMS (${text})`,
        )
      : new StandInError(4001, text);
  }
  requireCa(options.cacn);
  return {
    result: {
      ...describeCertificate({
        certificate: entry.certificate,
        chain: ca.shuffledChain,
        version,
      }),
      ...describeState(entry),
      owner_user: [entry.username],
    },
    value: args[0],
    summary: null,
  };
}

/** `cert_revoke.execute`. */
export function certRevoke(
  call: StandInCall,
  surroundings: Surroundings,
): Record<string, unknown> {
  certShow(call, surroundings);
  const entry = surroundings.ca.issued.get(BigInt(call.args[0]))!;
  if (entry.revocationReason !== undefined) {
    throw new StandInError(
      4301,
      'Certificate operation cannot be completed: certificate has already been revoked',
    );
  }
  entry.revocationReason = Number(call.options.revocation_reason);
  return { result: { revoked: true }, value: call.args[0], summary: null };
}

/** `cert_find.execute` with `subject`, `exactly`, `issuedon_from` and `all`. */
export function certFind(
  { options }: StandInCall,
  { ca, version }: Surroundings,
): Record<string, unknown> {
  const since = Date.parse(String(options.issuedon_from));
  const result = [...ca.issued.values()]
    .filter(({ username }) => username === options.subject)
    .filter(({ issuedAt }) => issuedAt.getTime() >= since)
    .slice(0, Number(options.sizelimit))
    .map(entry => ({
      ...describeCertificate({
        certificate: entry.certificate,
        chain: ca.shuffledChain,
        version,
      }),
      ...describeState(entry),
      status: entry.revocationReason === undefined ? 'VALID' : 'REVOKED',
    }));
  return { result, count: result.length, truncated: false, summary: null };
}

function describeState({ revocationReason }: StandInCertificate) {
  return revocationReason === undefined
    ? { revoked: false }
    : { revoked: true, revocation_reason: revocationReason };
}

function requireCa(cacn: unknown): void {
  if (cacn !== 'ipa') {
    throw new StandInError(4001, `${cacn}: Certificate Authority not found`);
  }
}
