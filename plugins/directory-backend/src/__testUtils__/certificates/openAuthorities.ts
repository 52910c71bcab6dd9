import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type {
  CertificateAuthority,
  Database,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { createHash } from 'node:crypto';
import { CertificateAuthorities } from '../../certificates/CertificateAuthorities';
import {
  type CertificatesConfig,
  readCertificatesConfig,
} from '../../certificates/CertificatesConfig';
import type { CertificateRecord } from '../../certificates/records/certificateRows';
import { CertificateRecords } from '../../certificates/records/CertificateRecords';
import type { GatewayRecords } from '../../certificates/CertificateAuthorities';
import {
  type ReservationRequest,
  Reservations,
} from '../../certificates/records/Reservations';

/**
 * Registers CAs, the first of which issues, and opens the records in a migrated
 * database.
 */
export function openAuthorities(
  database: Database,
  registered: Readonly<Record<string, CertificateAuthority>>,
  certificates: JsonObject = {},
  accounts?: GatewayRecords['accounts'],
) {
  const [name, ...read] = Object.keys(registered);
  const config = readCertificatesConfig(
    new ConfigReader({
      certificates: { authority: name, read, ...certificates },
    }),
  )!;
  const authorities = new CertificateAuthorities();
  for (const [each, authority] of Object.entries(registered)) {
    authorities.addAuthority(each, authority);
  }
  return {
    config,
    ...configureAuthorities(database, authorities, config, accounts),
  };
}

/** Opens the records of registered CAs in a migrated database. */
export function configureAuthorities(
  database: Database,
  authorities: CertificateAuthorities,
  config: CertificatesConfig,
  accounts: GatewayRecords['accounts'] = {
    stableIdOf: () => undefined,
    usernameOf: () => undefined,
  },
) {
  const { authority: name } = config;
  const records = new CertificateRecords(database);
  const reservations = new Reservations(database);
  authorities.configure(config, { accounts, records });

  /** Issues a certificate as the issuance service does, by default to alice. */
  async function issue(
    options: Partial<ReservationRequest> = {},
  ): Promise<CertificateRecord> {
    const { owner = { username: 'alice', stableId: 'ipaUniqueID=1' } } =
      options;
    const { choosesSerialNumbers = false } = authorities.issuing;
    const request = createSigningRequest({
      username: owner.username,
      principal: `${owner.username}@EXAMPLE.TEST`,
      profile: options.profile ?? 'userCerts',
    });
    const reserved = await reservations.reserve({
      authority: name,
      choosesSerialNumbers,
      owner,
      profile: request.profile,
      publicKeySha256: createHash('sha256')
        .update(request.publicKey)
        .digest('hex'),
      requestedBy: owner.username,
      requestKey: String(request.serialNumber),
      ...options,
    });
    if (!('row' in reserved)) {
      return reserved;
    }
    const { serialNumber } = reserved;
    const signed = await authorities.issuing.sign({ ...request, serialNumber });
    const { description } = signed.certificate;
    if (!description.ok) {
      throw new Error(description.message);
    }
    await reservations.record(reserved, signed, description.certificate);
    const found = await records.find(description.certificate.serialNumber);
    return found.find(({ authority }) => authority === reserved.row.authority)!;
  }

  return { authorities, issue, records, reservations };
}
