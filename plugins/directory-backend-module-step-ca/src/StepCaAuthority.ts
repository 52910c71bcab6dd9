import type { LoggerService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import {
  type AuthorityProfile,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  OutcomeUnknownError,
  type RevocableReason,
  type Revocation,
  type RevocationRequest,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  type RequestSignature,
  writePem,
} from '@directory-gateway/x509';
import { X509Certificate, createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { StepCaClient, type StepCaResponse } from './StepCaClient';
import type { StepCaConfig } from './StepCaConfig';

/** A difference of the clocks of step-ca and the gateway, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/** Validity above which the start warns, in milliseconds. */
const LONG_VALIDITY_MS = 7 * 24 * 3_600_000;

const COMMON_NAME = '2.5.4.3';

/** RFC 5280 §5.3.1. */
const REASON_CODES: Readonly<Record<RevocableReason, number>> = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
};

const signResponseSchema = z.object({
  certChain: z.array(z.string()).min(2),
});

/**
 * step-ca as a CA: a JWK provisioner signs users' certificates with the serial
 * number of the gateway and revokes them. step-ca has no holds and no lookup,
 * and does not publish revocations.
 */
export class StepCaAuthority implements CertificateAuthority {
  readonly cacn: string;
  readonly profiles: ReadonlyMap<string, AuthorityProfile>;
  readonly keyTypes: ReadonlySet<RequestSignature> = new Set([
    'rsa',
    'rsa-pss',
    'ec',
    'ed25519',
  ]);
  readonly #client: StepCaClient;
  readonly #logger: LoggerService;

  static create(options: {
    readonly config: StepCaConfig;
    readonly logger: LoggerService;
  }): StepCaAuthority {
    return new StepCaAuthority(options.config, options.logger);
  }

  private constructor(config: StepCaConfig, logger: LoggerService) {
    this.cacn = config.cacn;
    this.profiles = config.profiles;
    this.#client = new StepCaClient(config);
    this.#logger = logger;
  }

  /**
   * Checks the provisioner when the gateway starts. If step-ca does not respond,
   * the check is repeated before each certificate is signed, like after a start.
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
    let problems: readonly string[];
    try {
      problems = await this.#client.connect(connection =>
        this.#client.check(connection),
      );
    } catch (error) {
      this.#logger.warn(
        `step-ca cannot be checked; certificates are not signed until it responds: ${
          toError(error).message
        }`,
      );
      return;
    }
    if (problems.length > 0) {
      throw new Error(problems.join('. '));
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
    const response = await this.#client.connect(async connection => {
      const problems = await this.#client.check(connection);
      if (problems.length > 0) {
        throw new AuthorityUnavailableError(problems.join('. '));
      }
      const notAfter = Math.min(
        Date.now() + profile.validityMs,
        connection.issuer?.validToDate.getTime() ?? Infinity,
      );
      // In whole seconds, as in the certificate.
      const expires = new Date(Math.floor(notAfter / 1000) * 1000);
      const reply = await connection.post({
        path: '/1.0/sign',
        claims: {
          sub: request.username,
          // step-ca would replace a missing list with the subject.
          sans: emails.length > 0 ? emails : [request.principal],
          certificate: {
            serialNumber: request.serialNumber.toString(),
            profile: request.profile,
            emails,
            userPrincipalNames,
          },
        },
        body: {
          csr: writePem('CERTIFICATE REQUEST', request.csr),
          notAfter: expires.toISOString(),
        },
      });
      return { reply, expires };
    });
    const signed = readSigned(response.reply);
    const differences = findDifferences(signed, {
      request,
      profile,
      expires: response.expires,
    });
    if (differences.length > 0) {
      await this.#discard(signed);
      throw new OutcomeUnknownError(
        `step-ca returned a certificate with another ${differences.join(', ')}`,
      );
    }
    return signed;
  }

  async revoke({
    serialNumber,
    reason,
    revokedBy,
  }: RevocationRequest): Promise<Revocation> {
    const serial = serialNumber.toString();
    const reasonCode = REASON_CODES[reason];
    let response: StepCaResponse;
    try {
      response = await this.#client.connect(connection =>
        connection.post({
          path: '/1.0/revoke',
          claims: { sub: serial },
          body: {
            serial,
            reasonCode,
            reason: `${reason}, by ${revokedBy}`,
            passive: true,
          },
        }),
      );
    } catch (error) {
      // The request can be repeated.
      throw new AuthorityUnavailableError(toError(error).message);
    }
    if (response.status === 200) {
      return { reason: reasonCode, revokedAt: new Date() };
    }
    if (/ is already revoked\b/.test(response.message)) {
      // step-ca does not return the original reason and time.
      return { reason: reasonCode };
    }
    throw new AuthorityUnavailableError(
      `step-ca did not revoke the certificate ${serial}: status ${response.status}, ${response.message}`,
    );
  }

  /**
   * Revokes a certificate that must not be used. The gateway revokes only the
   * serial number that it has reserved.
   */
  async #discard({ certificate }: SignedCertificate): Promise<void> {
    const serial = new X509Certificate(certificate.der).serialNumber;
    try {
      await this.revoke({
        serialNumber: BigInt(`0x${serial}`),
        reason: 'superseded',
        revokedBy: 'the directory gateway',
      });
    } catch (error) {
      this.#logger.error(
        `The wrong certificate ${serial} is not revoked: ${
          toError(error).message
        }`,
      );
    }
  }
}

/** Reads the response of `POST /1.0/sign`. */
function readSigned({
  status,
  body,
  message,
}: StepCaResponse): SignedCertificate {
  if (status === 400 || status === 403) {
    throw new AuthorityRefusalError(message || 'The CA refused the request');
  }
  const text = `step-ca returned status ${status}: ${message}`;
  if (status === 401 || status === 404) {
    throw new AuthorityUnavailableError(text);
  }
  const parsed = signResponseSchema.safeParse(body);
  if (status !== 201 || !parsed.success) {
    // A certificate that cannot be stored in step-ca's database is signed.
    throw new OutcomeUnknownError(text);
  }
  try {
    const chain = parsed.data.certChain.map(
      pem => new X509Certificate(pem).raw,
    );
    return { certificate: new Certificate(chain[0]), chain };
  } catch (error) {
    throw new OutcomeUnknownError(toError(error).message);
  }
}

/** Returns the names of the fields that differ from the request. */
function findDifferences(
  { certificate: { description }, chain }: SignedCertificate,
  options: {
    readonly request: SigningRequest;
    readonly profile: AuthorityProfile;
    readonly expires: Date;
  },
): readonly string[] {
  if (!description.ok) {
    return ['encoding'];
  }
  const { certificate } = description;
  const { request, profile, expires } = options;
  const { emails, userPrincipalNames } = request.alternativeNames;
  const [leaf, issuer] = chain.map(der => new X509Certificate(der));
  const subject = certificate.subjectName.rdns
    .flat()
    .map(({ oid, value }) => `${oid}=${value}`);
  const names = certificate.alternativeNames.map(name =>
    'value' in name ? `${name.kind}:${name.value}` : name.kind,
  );
  const matches: Readonly<Record<string, boolean>> = {
    key:
      certificate.publicKey.sha256 ===
      createHash('sha256').update(request.publicKey).digest('hex'),
    'serial number': certificate.serialNumber === request.serialNumber,
    subject: isDeepStrictEqual(subject, [`${COMMON_NAME}=${request.username}`]),
    'subject alternative name': isSameSet(names, [
      ...emails.map(email => `rfc822Name:${email}`),
      ...userPrincipalNames.map(name => `userPrincipalName:${name}`),
    ]),
    'key usage': isSameSet(certificate.keyUsage, ['digitalSignature']),
    'extended key usage': isSameSet(
      certificate.extendedKeyUsage,
      profile.extendedKeyUsage,
    ),
    'type (CA)': !certificate.ca,
    start: certificate.notBefore <= Date.now() + CLOCK_SKEW_MS,
    end:
      certificate.notAfter === expires.getTime() &&
      certificate.notAfter <= issuer.validToDate.getTime(),
    issuer: leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey),
  };
  return Object.keys(matches).filter(field => !matches[field]);
}

function isSameSet(
  actual: readonly string[] | undefined,
  expected: readonly string[],
): boolean {
  return isDeepStrictEqual(new Set(actual), new Set(expected));
}
