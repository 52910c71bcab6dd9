import { directoryCertificateSignPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type {
  AuthorityProfile,
  CertificateAuthority,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Duration } from 'luxon';
import type { CertificateAuthorities } from '../../certificates/CertificateAuthorities';
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
import type { CertificateRecords } from '../../certificates/records/CertificateRecords';
import type { SigningLimit } from '../../certificates/SigningLimit';
import type { RevocationService } from '../../certificates/RevocationService';
import type { UserCertificates } from '../../certificates/UserCertificates';
import type { Dialect } from '../api/Dialect';
import { type Operation, operation, requireAccount } from '../api/Operation';
import type { ParameterErrors } from '../request/ParameterErrors';
import { type RequestParameters, readText } from '../request/readParameters';
import { InvalidRequestError, ResourceNotFoundError } from '../../apiErrors';
import { type RecordModel, resolveFields } from '../response/fieldMask';
import { rawInteger } from '../response/json';

/** Maximum length of a label in characters. */
const MAX_LABEL_LENGTH = 64;

const SIGNING = '/certs/';
const CERTIFICATE = '/certs/:serialNumber(\\d+)/';

/** The keys of a certificate profile. */
const profileModel: RecordModel = {
  keys: ['name', 'purpose', 'lifetime', 'extended_key_usage', 'is_default'],
  lists: new Set(['extended_key_usage']),
};

/** Services that the operations on certificates use. */
export interface CertificateServices {
  readonly authorities: Pick<CertificateAuthorities, 'get'>;
  /** The CA that issues certificates. */
  readonly authority: Pick<
    CertificateAuthority,
    'profiles' | 'revoke' | 'hold'
  >;
  readonly config: CertificatesConfig;
  readonly issuance: IssuanceService;
  readonly listed: UserCertificates;
  readonly reader: CertificateReader;
  readonly records: CertificateRecords;
  /** Also limits revocations by owners. */
  readonly limit: Pick<SigningLimit, 'consume'>;
  readonly revocations: RevocationService;
}

/** Operations to sign a CSR and read a certificate (contract, section 4.4). */
export function certificateOperations(
  options: Pick<CertificateServices, 'config' | 'issuance' | 'reader'> & {
    readonly dialect: Dialect;
  },
): readonly Operation[] {
  const { issuance, reader, dialect } = options;
  const { defaultProfile } = options.config;
  return [
    operation({
      id: 'sign_csr',
      method: 'post',
      path: SIGNING,
      permission: directoryCertificateSignPermission,
      recordDenial: denied => issuance.recordDenial(denied),
      model: dialect.models.certificate,
      parse: ({ parameters }, errors) =>
        parseSigningParameters(parameters, { defaultProfile, errors }),
      async handle({ context }, { input: { request, isDryRun }, keys }) {
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
    }),
    operation({
      id: 'get_cert',
      path: CERTIFICATE,
      async handle({ params, fieldMask, context }) {
        const serialNumber = BigInt(params.serialNumber);
        const issued = await reader.get(serialNumber, context);
        if (!issued) {
          throw certificateNotFound(serialNumber);
        }
        const keys = resolveFields(fieldMask, dialect.models.certificate);
        return {
          result: dialect.presentCertificate(issued, { keys, isNew: false }),
        };
      },
    }),
  ];
}

/** The same operations of a portal without `directory.certificates`. */
export function certificateOperationsWithoutAuthority(): readonly Operation[] {
  return [
    operation({
      id: 'sign_csr',
      method: 'post',
      path: SIGNING,
      permission: directoryCertificateSignPermission,
      async handle() {
        throw new InvalidRequestError({
          message:
            'The CSR cannot be signed: this portal has no certificate authority.',
        });
      },
    }),
    operation({
      id: 'get_cert',
      path: CERTIFICATE,
      async handle({ params }) {
        throw certificateNotFound(BigInt(params.serialNumber));
      },
    }),
  ];
}

/** An extension: the certificate profiles that are open to the caller. */
export function certificateProfilesOperation({
  authority,
  config,
}: CertificateServices): Operation {
  return operation({
    id: 'list_certificate_profiles',
    path: '/certs/profiles/',
    permission: directoryCertificateSignPermission,
    model: profileModel,
    async handle({ caller }, { keys }) {
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
  });
}

export const MISSING =
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
  const profile = readText(parameters, 'profile', errors) || defaultProfile;
  return {
    request: {
      username: username ?? '',
      csr: csr ?? '',
      profile,
      label: parseLabel(parameters, errors),
    },
    isDryRun: parseDryRun(parameters, errors),
  };
}

/**
 * Control characters, lone surrogates, line separators and bidirectional
 * controls.
 */
const NOT_IN_LABELS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

/** Parses a label; `undefined` when it is missing or empty. */
export function parseLabel(
  parameters: RequestParameters,
  errors: ParameterErrors,
): string | undefined {
  const text = readText(parameters, 'label', errors)?.trim() ?? '';
  if ([...text].length > MAX_LABEL_LENGTH || NOT_IN_LABELS.test(text)) {
    errors.add(
      'label',
      `Must have at most ${MAX_LABEL_LENGTH} characters, without control characters.`,
    );
  }
  return text === '' ? undefined : text;
}

/** Rejects values other than true and false, so that a typo does not sign. */
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

/** An ISO 8601 duration without months and years, whose lengths vary. */
function isoDurationOf(milliseconds: number): string | null {
  return Duration.fromMillis(milliseconds)
    .shiftTo('days', 'hours', 'minutes', 'seconds')
    .toISO();
}

/** The 404 of a certificate, with its serial number. */
export function certificateNotFound(
  serialNumber: bigint,
): ResourceNotFoundError {
  return new ResourceNotFoundError({
    message: 'Certificate not found',
    serial_number: rawInteger(serialNumber),
  });
}
