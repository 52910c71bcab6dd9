import type { CertificateOperations } from '../../createCertificates';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import type { Dialect } from '../api/Dialect';
import { groupOperations } from './groups';
import { meOperation } from './me';
import { searchOperation } from './search';
import { userOperations } from './users';

/** The operations of the contract, without its extensions, in one dialect. */
export function contractOperations(options: {
  readonly directory: PrivateDirectory;
  readonly dialect: Dialect;
  /** `undefined`: the gateway has nothing to do with certificates. */
  readonly certificates: CertificateOperations | undefined;
}): readonly Operation[] {
  return [
    meOperation(options),
    ...userOperations(options),
    ...groupOperations(options),
    searchOperation(options),
    ...(options.certificates?.inDialect(options.dialect) ?? []),
  ];
}
