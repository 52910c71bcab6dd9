import {
  directoryCertificateRevokePermission,
  directoryCertificateSignPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  REVOCABLE_REASONS,
  type RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import { isError } from '@backstage/errors';
import type { Caller, CallerContext } from '@directory-gateway/directory-core';
import type { LocatedCertificate } from '../../certificates/CertificateAuthorities';
import { isOwner, requireFreshProof } from '../../certificates/renewal';
import type { AccessControl } from '../../access/AccessControl';
import type { Dialect } from '../api/Dialect';
import { type Operation, operation } from '../api/Operation';
import {
  type ParameterErrors,
  parseParameters,
} from '../request/ParameterErrors';
import { type RequestParameters, readText } from '../request/readParameters';
import { ForbiddenError } from '../../apiErrors';
import { resolveFields } from '../response/fieldMask';
import {
  certificateModel,
  presentCertificate,
} from '../response/presentCertificate';
import {
  certificateNotFound,
  type CertificateServices,
  MISSING,
  parseLabel,
} from './certificates';

const REVOCATION = '/certs/:serialNumber(\\d+)/revocation/';
const RENEWAL = '/certs/:serialNumber(\\d+)/renewal/';
const LABEL = '/certs/:serialNumber(\\d+)/label/';

/** Fields of a revoked certificate for callers who may not see it. */
const ALWAYS_VISIBLE: ReadonlySet<string> = new Set([
  'cacn',
  'revoked',
  'revocation_reason',
  'serial_number',
  'serial_number_hex',
  'uri',
]);

type Options = CertificateServices & {
  readonly access: Pick<AccessControl, 'require'>;
  readonly dialect: Dialect;
};

/** Extensions: revocation, renewal and labels of issued certificates. */
export function ownCertificateOperations(
  options: Options,
): readonly Operation[] {
  const { issuance, reader, records, revocations, dialect } = options;
  return [
    operation({
      id: 'revoke_cert',
      method: 'post',
      path: REVOCATION,
      // Requires a rule, or recent authentication of the owner.
      permission: 'handler',
      recordDenial: ({ params, ...denied }) =>
        revocations.recordDenial(denied, {
          serialNumber: BigInt(params.serialNumber),
        }),
      async handle({ params, parameters, fieldMask, caller, context }) {
        const serialNumber = BigInt(params.serialNumber);
        try {
          await requireRevocable(options, { caller, serialNumber });
        } catch (error) {
          await revocations.recordDenial(
            { caller, error: error as Error },
            { serialNumber },
          );
          throw error;
        }
        const keys = resolveFields(fieldMask, certificateModel);
        const reason = parseParameters(errors =>
          parseRevocationReason(parameters, errors),
        );
        const request = { serialNumber, reason };
        const revoked = await revocations.revoke(request, caller);
        return presentRevoked(options, { revoked, keys, context, request });
      },
    }),
    operation({
      id: 'renew_cert',
      method: 'post',
      path: RENEWAL,
      permission: directoryCertificateSignPermission,
      async handle({ params, parameters, fieldMask, context }) {
        const keys = resolveFields(fieldMask, certificateModel);
        const serialNumber = BigInt(params.serialNumber);
        const csr = parseParameters(errors => parseCsr(parameters, errors));
        const issued = await issuance.renew(serialNumber, csr, context);
        return { result: presentCertificate(issued, keys, dialect.uris) };
      },
    }),
    operation({
      id: 'label_cert',
      method: 'put',
      path: LABEL,
      permission: directoryCertificateSignPermission,
      async handle({ params, parameters, fieldMask, caller, context }) {
        const keys = resolveFields(fieldMask, certificateModel);
        const serialNumber = BigInt(params.serialNumber);
        const label = parseParameters(errors => parseLabel(parameters, errors));
        const issued = await reader.get(serialNumber, context);
        if (!issued) {
          throw certificateNotFound(serialNumber);
        }
        const { record } = issued;
        if (!record || !isOwner(caller, record)) {
          throw new ForbiddenError({
            message:
              'Certificates can be labeled only by their owner, and only if this gateway issued them.',
          });
        }
        await records.setLabel(record.id, label);
        return {
          result: presentCertificate(
            { ...issued, record: { ...record, label } },
            keys,
            dialect.uris,
          ),
        };
      },
    }),
  ];
}

/**
 * @throws ForbiddenError; for the owner, CertificateRefusedError or
 *   SigningLimitExceededError
 */
async function requireRevocable(
  { access, authorities, limit, records }: Options,
  request: { readonly caller: Caller; readonly serialNumber: bigint },
): Promise<void> {
  const { caller, serialNumber } = request;
  try {
    await access.require(caller, directoryCertificateRevokePermission);
    return;
  } catch (error) {
    if (!isError(error) || error.name !== 'ForbiddenError') {
      throw error;
    }
    const recorded = await records.find(serialNumber);
    const issued =
      recorded.some(record => isOwner(caller, record)) &&
      (await authorities.get(serialNumber, { forRevocation: true }));
    if (!issued || !issued.record || !isOwner(caller, issued.record)) {
      throw error;
    }
  }
  requireFreshProof(caller, 'To revoke your certificate');
  await limit.consume(caller);
}

async function presentRevoked(
  { reader, dialect }: Options,
  result: {
    readonly revoked: LocatedCertificate | undefined;
    readonly keys: readonly string[];
    readonly context: CallerContext;
    readonly request: { readonly serialNumber: bigint };
  },
) {
  const { revoked, keys, context, request } = result;
  if (!revoked) {
    throw certificateNotFound(request.serialNumber);
  }
  // The revocation has succeeded, even if the account cannot be read.
  const isVisible = await reader.isVisible(revoked, context).catch(() => false);
  const visibleKeys = isVisible
    ? keys
    : keys.filter(key => ALWAYS_VISIBLE.has(key));
  return { result: presentCertificate(revoked, visibleKeys, dialect.uris) };
}

function parseCsr(
  parameters: RequestParameters,
  errors: ParameterErrors,
): string {
  const csr = readText(parameters, 'csr', errors);
  if (csr === undefined) {
    errors.add('csr', MISSING);
  }
  return csr ?? '';
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
