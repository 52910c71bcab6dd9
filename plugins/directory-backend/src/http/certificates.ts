import {
  directoryCertificateSignPermission,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { CertificateDesk } from '../certificates/CertificateDesk';
import type { CertificateReader } from '../certificates/CertificateReader';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { parseSigningOrder } from './request/parseSigningOrder';
import { certificateNotFound } from './response/apiErrors';
import {
  certificateModel,
  presentCertificate,
} from './response/presentCertificate';
import type { ResourceUris } from './response/ResourceUris';

/** Signing a request, and a certificate's details (contract, section 4.4). */
export function certificateOperations(options: {
  readonly desk: CertificateDesk;
  readonly reader: CertificateReader;
  readonly defaultProfile: string;
  readonly uris: ResourceUris;
}): readonly Operation[] {
  const { desk, reader, defaultProfile, uris } = options;
  return [
    {
      id: 'sign_csr',
      method: 'post',
      path: '/certs/',
      permission: directoryCertificateSignPermission,
      recordRefusal: (caller, error) => desk.recordRefusal(caller, error),
      async handle({ parameters, fieldMask, context }) {
        const { order, isDryRun } = parseSigningOrder(parameters, {
          defaultProfile,
        });
        const keys = resolveFields(fieldMask, certificateModel);
        if (isDryRun) {
          const { verdicts, approved } = await desk.judge(order, context);
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
        return { result: presentCertificate(issued, keys, uris) };
      },
    },
    {
      id: 'get_cert',
      method: 'get',
      path: '/certs/:serialNumber(\\d+)/',
      permission: directoryReadPermission,
      async handle({ params, fieldMask, context }) {
        const keys = resolveFields(fieldMask, certificateModel);
        const serialNumber = BigInt(params.serialNumber);
        const issued = await reader.get(serialNumber, context);
        if (!issued) {
          throw certificateNotFound(serialNumber);
        }
        return { result: presentCertificate(issued, keys, uris) };
      },
    },
  ];
}
