import type {
  AuditorService,
  DatabaseService,
} from '@backstage/backend-plugin-api';
import type { Accounts } from './directory/Accounts';
import type { PrivateDirectory } from './directory/PrivateDirectory';
import type { Operation } from './http/api/Operation';
import { certificateProfilesOperation } from './http/resources/certificates';
import { certificateOperations } from './http/resources/certificates';
import type { Dialect } from './http/api/Dialect';
import { revokeCertificateOperation } from './http/resources/certificates';
import type { ResourceUris } from './http/response/ResourceUris';
import { BlockedKeys } from './certificates/BlockedKeys';
import type { CertificateAuthorities } from './certificates/CertificateAuthorities';
import { IssuanceService } from './certificates/IssuanceService';
import { CertificateReader } from './certificates/CertificateReader';
import type { CertificatesConfig } from './certificates/CertificatesConfig';
import { RevocationService } from './certificates/RevocationService';
import { SigningLimit } from './certificates/SigningLimit';

/** The operations on certificates, one desk behind them all. */
export interface CertificateOperations {
  /** Those of the contract, in one dialect. */
  inDialect(dialect: Dialect): readonly Operation[];
  /** Those that extend it. */
  readonly extensions: readonly Operation[];
  /** Where certificates are revoked, also by the portal's action. */
  readonly revocationDesk: RevocationService;
}

/**
 * The operations on certificates, wired to the configured authorities.
 *
 * @throws InputError when an authority that the configuration names is not
 *   there.
 */
export async function createCertificateOperations(options: {
  readonly authorities: CertificateAuthorities;
  readonly config: CertificatesConfig;
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly privateDirectory: PrivateDirectory;
  readonly auditor: AuditorService;
  readonly database: DatabaseService;
  readonly uris: ResourceUris;
}): Promise<CertificateOperations> {
  const { authorities, config, database, uris } = options;
  authorities.configure(config);
  const limit = await SigningLimit.create({ database, limit: config.limit });
  const blockedKeys = await BlockedKeys.create(database);
  const rooms = { ...options, authority: authorities, blockedKeys };
  const desk = new IssuanceService({ ...rooms, limit });
  const reader = new CertificateReader({
    directory: options.privateDirectory,
    authority: authorities,
    config,
  });
  const { defaultProfile } = config;
  const revocationDesk = new RevocationService(rooms);
  return {
    inDialect: dialect =>
      certificateOperations({ desk, reader, defaultProfile, dialect }),
    extensions: [
      certificateProfilesOperation(rooms),
      revokeCertificateOperation({ desk: revocationDesk, reader, uris }),
    ],
    revocationDesk,
  };
}
