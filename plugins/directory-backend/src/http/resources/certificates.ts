import {
  directoryCertificateSignPermission,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { CertificateDesk } from '../../certificates/IssuanceService';
import type { CertificateReader } from '../../certificates/CertificateReader';
import type { Operation } from '../api/Operation';
import type { Dialect } from '../api/Dialect';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parseSigningOrder } from './parseSigningOrder';
import { certificateNotFound } from '../response/apiErrors';

/** Signing a request, and a certificate's details (contract, section 4.4). */
export function certificateOperations(options: {
  readonly desk: CertificateDesk;
  readonly reader: CertificateReader;
  readonly defaultProfile: string;
  readonly dialect: Dialect;
}): readonly Operation[] {
  const { desk, reader, defaultProfile, dialect } = options;
  return [
    {
      id: 'sign_csr',
      method: 'post',
      path: '/certs/',
      permission: directoryCertificateSignPermission,
      recordRefusal: refusal => desk.recordRefusal(refusal),
      async handle({ parameters, fieldMask, context }) {
        const { order, isDryRun } = parseParameters(errors =>
          parseSigningOrder(parameters, { defaultProfile, errors }),
        );
        const keys = resolveFields(fieldMask, dialect.models.certificate);
        if (isDryRun) {
          const { verdicts, approved } = await desk.check(order, context);
          return {
            result: {
              would_sign: approved !== undefined,
              rules: verdicts.map(({ rule, passed = null, message }) => ({
                rule,
                passed,
                message,
              })),
            },
          };
        }
        const issued = await desk.sign(order, context);
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
