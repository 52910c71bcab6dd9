import {
  directoryCertificateRevokePermission,
  directoryCertificateSignPermission,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  type AuthorityProfile,
  type CertificateAuthority,
  REVOCABLE_REASONS,
  type RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Duration } from 'luxon';
import type { CertificateReader } from '../../certificates/CertificateReader';
import {
  type CertificateProfile,
  type CertificatesConfig,
  isOpenTo,
} from '../../certificates/CertificatesConfig';
import type {
  IssuanceService,
  UncheckedSigningRequest,
} from '../../certificates/IssuanceService';
import type { RevocationService } from '../../certificates/RevocationService';
import type { Dialect } from '../api/Dialect';
import { type Operation, requireAccount } from '../api/Operation';
import {
  type ParameterErrors,
  parseParameters,
} from '../request/ParameterErrors';
import { type RequestParameters, readText } from '../request/readParameters';
import { certificateNotFound } from '../response/apiErrors';
import { type RecordModel, resolveFields } from '../response/fieldMask';
import {
  certificateModel,
  presentCertificate,
} from '../response/presentCertificate';
import type { ResourceUris } from '../response/ResourceUris';

/** The keys of a certificate profile. */
export const profileModel: RecordModel = {
  keys: ['name', 'purpose', 'lifetime', 'extended_key_usage', 'is_default'],
  lists: new Set(['extended_key_usage']),
};

/** The services behind the operations on certificates. */
export interface CertificateServices {
  readonly authority: Pick<CertificateAuthority, 'profiles'>;
  readonly config: CertificatesConfig;
  readonly issuance: IssuanceService;
  readonly reader: CertificateReader;
  readonly revocations: RevocationService;
}

/** Signing a CSR, and reading a certificate (contract, section 4.4). */
export function certificateOperations(
  options: CertificateServices & { readonly dialect: Dialect },
): readonly Operation[] {
  const { issuance, reader, dialect } = options;
  const { defaultProfile } = options.config;
  return [
    {
      id: 'sign_csr',
      method: 'post',
      path: '/certs/',
      permission: directoryCertificateSignPermission,
      recordDenial: denied => issuance.recordDenial(denied),
      async handle({ parameters, fieldMask, context }) {
        const { request, isDryRun } = parseParameters(errors =>
          parseSigningParameters(parameters, { defaultProfile, errors }),
        );
        const keys = resolveFields(fieldMask, dialect.models.certificate);
        if (isDryRun) {
          const { checks, approved } = await issuance.check(request, context);
          return {
            result: {
              would_sign: approved !== undefined,
              rules: checks.map(({ rule, passed = null, message }) => ({
                rule,
                passed,
                message,
              })),
            },
          };
        }
        const issued = await issuance.sign(request, context);
        return {
          result: dialect.presentCertificate(issued, { keys, isNew: true }),
        };
      },
    },
    {
      id: 'get_cert',
      method: 'get',
      path: '/certs/:serialNumber(\\d+)/',
      permission: directoryReadPermission,
      async handle({ params, fieldMask, context }) {
        const keys = resolveFields(fieldMask, dialect.models.certificate);
        const serialNumber = BigInt(params.serialNumber);
        const issued = await reader.get(serialNumber, context);
        if (!issued) {
          throw certificateNotFound(serialNumber);
        }
        return {
          result: dialect.presentCertificate(issued, { keys, isNew: false }),
        };
      },
    },
  ];
}

/** An extension: the certificate profiles that are open to the caller. */
export function certificateProfilesOperation({
  authority,
  config,
}: CertificateServices): Operation {
  return {
    id: 'list_certificate_profiles',
    method: 'get',
    path: '/certs/profiles/',
    permission: directoryCertificateSignPermission,
    async handle({ caller, fieldMask }) {
      const keys = resolveFields(fieldMask, profileModel);
      const account = requireAccount(caller);
      const open = [...config.profiles.values()].filter(profile =>
        isOpenTo(profile, account),
      );
      return {
        result: open.map(profile =>
          presentProfile(profile, {
            keys,
            known: authority.profiles?.get(profile.name),
            isDefault: profile.name === config.defaultProfile,
          }),
        ),
      };
    },
  };
}

/** Fields of a revoked certificate for callers who may not see it. */
const ALWAYS_VISIBLE: ReadonlySet<string> = new Set([
  'cacn',
  'revoked',
  'revocation_reason',
  'serial_number',
  'serial_number_hex',
  'uri',
]);

/** An extension: revokes a certificate. */
export function revokeCertificateOperation({
  reader,
  revocations,
  uris,
}: CertificateServices & { readonly uris: ResourceUris }): Operation {
  return {
    id: 'revoke_cert',
    method: 'post',
    path: '/certs/:serialNumber(\\d+)/revocation/',
    permission: directoryCertificateRevokePermission,
    recordDenial: ({ params, ...denied }) =>
      revocations.recordDenial(denied, {
        serialNumber: BigInt(params.serialNumber),
      }),
    async handle({ params, parameters, fieldMask, caller, context }) {
      const keys = resolveFields(fieldMask, certificateModel);
      const serialNumber = BigInt(params.serialNumber);
      const reason = parseParameters(errors =>
        parseRevocationReason(parameters, errors),
      );
      const revoked = await revocations.revoke(
        { serialNumber, reason },
        caller,
      );
      if (!revoked) {
        throw certificateNotFound(serialNumber);
      }
      // The certificate is revoked, whether or not its owner can be read.
      const isVisible = await reader
        .isVisible(revoked, context)
        .catch(() => false);
      const visibleKeys = isVisible
        ? keys
        : keys.filter(key => ALWAYS_VISIBLE.has(key));
      return { result: presentCertificate(revoked, visibleKeys, uris) };
    },
  };
}

const MISSING =
  'Missing required parameter in the JSON body or the post body or the query string';

/**
 * Parses the parameters of `POST /certs/` (contract, section 4.4) and the
 * extension `dry_run`, which evaluates the policy without signing.
 */
function parseSigningParameters(
  parameters: RequestParameters,
  options: {
    readonly defaultProfile: string;
    readonly errors: ParameterErrors;
  },
): { readonly request: UncheckedSigningRequest; readonly isDryRun: boolean } {
  const { defaultProfile, errors } = options;
  const username = readText(parameters, 'user', errors);
  if (username === undefined) {
    errors.add('user', `User name. ${MISSING}`);
  }
  const csr = readText(parameters, 'csr', errors);
  if (csr === undefined) {
    errors.add('csr', `Certificate Signing Request. ${MISSING}`);
  }
  const profile = readText(parameters, 'profile', errors) ?? defaultProfile;
  return {
    request: { username: username ?? '', csr: csr ?? '', profile },
    isDryRun: parseDryRun(parameters, errors),
  };
}

/** Any other value is an error: a misspelled `true` must not sign. */
function parseDryRun(
  parameters: RequestParameters,
  errors: ParameterErrors,
): boolean {
  const text = readText(parameters, 'dry_run', errors);
  if (text !== undefined && text !== 'true' && text !== 'false') {
    errors.add('dry_run', 'Dry run. Must be true or false.');
  }
  return text === 'true';
}

function parseRevocationReason(
  parameters: RequestParameters,
  errors: ParameterErrors,
): RevocableReason {
  const text = readText(parameters, 'reason', errors);
  const reason = REVOCABLE_REASONS.find(known => known === text);
  if (!reason) {
    errors.add('reason', `Must be one of ${REVOCABLE_REASONS.join(', ')}.`);
  }
  return reason ?? REVOCABLE_REASONS[0];
}

function presentProfile(
  profile: CertificateProfile,
  options: {
    /** Keys of the result, in their order. */
    readonly keys: readonly string[];
    /** The CA's description of the profile, if it has one. */
    readonly known: AuthorityProfile | undefined;
    readonly isDefault: boolean;
  },
): Record<string, unknown> {
  const { keys, known, isDefault } = options;
  const values: Readonly<Record<string, unknown>> = {
    name: profile.name,
    purpose: profile.purpose ?? null,
    lifetime: known ? isoDurationOf(known.validityMs) : null,
    extended_key_usage: known?.extendedKeyUsage ?? null,
    is_default: isDefault,
  };
  return Object.fromEntries(keys.map(key => [key, values[key]]));
}

/** ISO 8601 without months and years, which have no fixed length. */
function isoDurationOf(milliseconds: number): string | null {
  return Duration.fromMillis(milliseconds)
    .shiftTo('days', 'hours', 'minutes', 'seconds')
    .toISO();
}
