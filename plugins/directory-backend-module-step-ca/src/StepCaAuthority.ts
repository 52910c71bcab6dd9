import type { LoggerService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import {
  type AuthorityProfile,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  OutcomeUnknownError,
  type Revocation,
  type RevocationRequest,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  REVOCATION_REASONS,
  writePem,
} from '@directory-gateway/x509';
import { X509Certificate, createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { StepCaClient, type StepCaResponse } from './StepCaClient';
import type { StepCaConfig } from './StepCaConfig';

/** Accepted difference of the clocks of step-ca and the gateway. */
const CLOCK_SKEW_MS = 60_000;

/** Validity above which the start warns. */
const LONG_VALIDITY_MS = 7 * 24 * 3_600_000;

/**
 * step-ca as a CA: a JWK provisioner signs users' certificates with the serial
 * number of the gateway and revokes them. step-ca has no holds and no lookup,
 * and does not publish revocations.
 */
export class StepCaAuthority implements CertificateAuthority {
  readonly cacn = 'step-ca';
  readonly profiles: ReadonlyMap<string, AuthorityProfile>;
  readonly #client: StepCaClient;
  readonly #logger: LoggerService;

  constructor(options: { config: StepCaConfig; logger: LoggerService }) {
    this.profiles = options.config.profiles;
    this.#client = new StepCaClient(options.config);
    this.#logger = options.logger;
  }

  /**
   * Checks the provisioner when the gateway starts. `sign` repeats the check, so
   * that step-ca may be down.
   *
   * @throws Error when the provisioner is unsafe.
   */
  async start(): Promise<void> {
    for (const [name, { validityMs }] of this.profiles) {
      if (validityMs > LONG_VALIDITY_MS) {
        this.#logger.warn(
          `The certificates of the profile ${name} are valid for more than 7 days: relying parties accept a certificate of step-ca until it expires, even if it is revoked`,
        );
      }
    }
    const problem = await this.#client
      .connect(connection => this.#client.check(connection))
      .catch(error => {
        this.#logger.warn(
          `step-ca cannot be checked, and no certificate is signed until it can: ${toError(error).message}`,
        );
      });
    if (problem) {
      throw new Error(problem);
    }
  }

  async sign(request: SigningRequest): Promise<SignedCertificate> {
    const profile = this.profiles.get(request.profile);
    if (!profile) {
      throw new AuthorityRefusalError(
        `Unknown certificate profile ${request.profile}`,
      );
    }
    const { emails, userPrincipalNames, kerberosPrincipalNames } =
      request.alternativeNames;
    if (kerberosPrincipalNames.length > 0) {
      throw new AuthorityRefusalError(
        'The CA does not certify Kerberos principal names (KRB5PrincipalName): request a user principal name instead',
      );
    }
    const { response, notAfter } = await this.#client.connect(
      async connection => {
        const problem = await this.#client.check(connection);
        if (problem !== undefined) {
          throw new AuthorityUnavailableError(problem);
        }
        const end = Math.min(
          Date.now() + profile.validityMs,
          connection.getIssuer()?.validToDate.getTime() ?? Infinity,
        );
        // In whole seconds, as in the certificate.
        const expires = new Date(Math.floor(end / 1000) * 1000);
        const csr = writePem('CERTIFICATE REQUEST', request.csr);
        const body = { csr, notAfter: expires.toISOString() };
        const claims = {
          sub: request.username,
          // step-ca would replace a missing list with the subject.
          sans: emails.length > 0 ? emails : ['no-name@invalid'],
          certificate: {
            serialNumber: request.serialNumber.toString(),
            profile: request.profile,
            emails,
            userPrincipalNames,
          },
        };
        return {
          response: await connection.post('/1.0/sign', body, claims),
          notAfter: expires,
        };
      },
    );
    const signed = readSigned(response);
    const differences = findDifferences(signed, request, {
      usages: profile.extendedKeyUsage,
      notAfter,
    });
    if (differences.length > 0) {
      const [leaf] = signed.chain.map(der => new X509Certificate(der));
      // The gateway revokes only the serial number that it has reserved.
      await this.revoke({
        serialNumber: BigInt(`0x${leaf.serialNumber}`),
        reason: 'superseded',
        revokedBy: 'the directory gateway',
      }).catch(() => {});
      throw new OutcomeUnknownError(
        `step-ca signed a certificate (${leaf.serialNumber}) with another ${differences.join(', ')}`,
      );
    }
    return signed;
  }

  async revoke(request: RevocationRequest): Promise<Revocation> {
    const serial = request.serialNumber.toString();
    const reason = REVOCATION_REASONS[request.reason];
    const body = {
      serial,
      reasonCode: reason,
      reason: `${request.reason}, by ${request.revokedBy}`,
      passive: true,
    };
    const response = await this.#client
      .connect(({ post }) => post('/1.0/revoke', body, { sub: serial }))
      .catch(error => {
        // The request can be repeated.
        throw new AuthorityUnavailableError(toError(error).message);
      });
    if (response.status === 200) {
      return { reason, revokedAt: new Date() };
    }
    const { message } = response.body;
    if (/ is already revoked\b/.test(String(message))) {
      // step-ca does not return the original reason and time.
      return { reason };
    }
    throw new AuthorityUnavailableError(
      `step-ca did not revoke the certificate ${serial}: status ${response.status}, ${message}`,
    );
  }
}

/** Reads the response of `POST /1.0/sign`. */
function readSigned({ status, body }: StepCaResponse): SignedCertificate {
  if (status === 400 || status === 403) {
    throw new AuthorityRefusalError(
      String(body.message ?? 'The CA refused the request'),
    );
  }
  const text = `step-ca returned status ${status}: ${body.message}`;
  if (status === 401 || status === 404) {
    throw new AuthorityUnavailableError(text);
  }
  try {
    if (status === 201 && Array.isArray(body.certChain)) {
      const chain = body.certChain.map(pem => new X509Certificate(pem).raw);
      if (chain.length > 1) {
        return { certificate: new Certificate(chain[0]), chain };
      }
    }
  } catch {
    // A certificate was signed.
  }
  // Other errors include that step-ca could not store a signed certificate.
  throw new OutcomeUnknownError(text);
}

/** Returns the names of the fields that differ from the request. */
function findDifferences(
  { certificate: { description }, chain }: SignedCertificate,
  request: SigningRequest,
  expected: { usages: readonly string[]; notAfter: Date },
): readonly string[] {
  if (!description.ok) {
    return ['encoding'];
  }
  const { certificate } = description;
  const { emails, userPrincipalNames } = request.alternativeNames;
  const [leaf, issuer] = chain.map(der => new X509Certificate(der));
  const key = createHash('sha256').update(request.publicKey).digest('hex');
  const end = expected.notAfter.getTime();
  const names = certificate.alternativeNames.map(name =>
    'value' in name ? `${name.kind}:${name.value}` : name.kind,
  );
  const matches: Readonly<Record<string, boolean>> = {
    key: certificate.publicKey.sha256 === key,
    'serial number': certificate.serialNumber === request.serialNumber,
    subject: certificate.subject === `CN=${request.username}`,
    'subject alternative name': isSame(names, [
      ...emails.map(email => `rfc822Name:${email}`),
      ...userPrincipalNames.map(name => `userPrincipalName:${name}`),
    ]),
    'key usage': isSame(certificate.keyUsage, ['digitalSignature']),
    'extended key usage': isSame(certificate.extendedKeyUsage, expected.usages),
    'type (CA)': !certificate.ca,
    start: certificate.notBefore <= Date.now() + CLOCK_SKEW_MS,
    end: certificate.notAfter === end && end <= issuer.validToDate.getTime(),
    issuer: leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey),
  };
  return Object.keys(matches).filter(field => !matches[field]);
}

function isSame(a: readonly string[] = [], b: readonly string[]): boolean {
  return isDeepStrictEqual(new Set(a), new Set(b));
}
