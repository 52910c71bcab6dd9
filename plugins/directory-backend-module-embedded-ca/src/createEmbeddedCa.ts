import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  CaIssuer,
  type CertificateSigner,
  KeyFile,
  LocalSigner,
  SocketSigner,
} from '@directory-gateway/ca';
import type { Knex } from 'knex';
import { CertificateStore } from './certificates/CertificateStore';
import type { EmbeddedCaConfig } from './config';
import { EmbeddedAuthority } from './EmbeddedAuthority';
import { importLog } from './issuers/issuanceLog';
import { type AvailableSigner, Issuers } from './issuers/Issuers';
import { IssuerStore } from './issuers/IssuerStore';
import { RevocationLists } from './revocation/RevocationLists';
import { RevocationStore } from './revocation/RevocationStore';

/** Components of the embedded CA. */
export interface EmbeddedCa {
  readonly issuers: Issuers;
  readonly authority: EmbeddedAuthority;
  readonly lists: RevocationLists;
  /**
   * Connects to the signer, imports its log after the signer has become
   * available, and signs the CRLs that are due. Must be called every minute.
   *
   * @throws Error when the database or the signer is not available.
   */
  maintain(): Promise<void>;
}

/**
 * Creates the embedded CA on a migrated database. An instance that cannot sign
 * logs the reason, retries, and still reads certificates.
 */
export async function createEmbeddedCa(options: {
  readonly config: EmbeddedCaConfig;
  readonly database: Knex;
  /** URL below which certificates and CRLs of issuers are published. */
  readonly publicUrl: string;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}): Promise<EmbeddedCa> {
  const { config, database, logger, now } = options;
  const issuers = new Issuers({
    openSigner: () =>
      openSigner({
        ...options,
        warn: message => logger.warn(message),
      }),
    store: new IssuerStore(database),
    logger,
  });
  const lists = new RevocationLists({
    issuers,
    revocations: new RevocationStore(database),
    validityMs: config.listValidityMs,
    logger,
    now,
  });
  const authority = new EmbeddedAuthority({
    issuers,
    certificates: new CertificateStore(database),
    lists,
    profiles: config.profiles,
    cacn: config.cacn,
    logger,
    now,
  });
  let imported: AvailableSigner | undefined;

  async function importMissing(available: AvailableSigner): Promise<void> {
    const logged = available.signer.loggedCertificates();
    const result = await importLog({ database, logged });
    imported = available;
    if (result.certificates + result.revocations > 0) {
      logger.warn(
        `Imported ${result.certificates} certificates and ${result.revocations} revocations from the issuance log that the database did not have: it was restored from a backup, or a process was killed`,
      );
    }
    if (result.unknownIssuers > 0) {
      logger.error(
        `The issuance log has ${result.unknownIssuers} certificates of issuers that are not on record: add them to directory.certificates.embedded.issuers`,
      );
    }
  }

  await issuers.refresh();
  return {
    issuers,
    authority,
    lists,
    async maintain() {
      await issuers.refresh();
      const { available } = issuers;
      if (!available) {
        // The reason has been logged. CRLs of other instances are still
        // observed.
        await lists.observe();
        return;
      }
      if (available !== imported) {
        await importMissing(available);
      }
      await lists.renew();
    },
  };
}

/**
 * Opens the configured signer.
 *
 * @param options - `warn`: logs a warning for an operator
 * @throws Error when a key, a chain or the issuance log cannot be read.
 */
export async function openSigner(options: {
  readonly config: EmbeddedCaConfig;
  readonly publicUrl: string;
  readonly warn: (message: string) => void;
  readonly now?: () => number;
}): Promise<CertificateSigner> {
  const { config, publicUrl, warn, now } = options;
  const { signer, profiles } = config;
  if (signer.kind === 'socket') {
    return new SocketSigner({ path: signer.path });
  }
  const issuers = await Promise.all(
    signer.issuers.map(({ chainFile, keyFile, passphraseFile }, index) =>
      CaIssuer.read({
        chainFile,
        async keyOf(spki) {
          const key = new KeyFile({ path: keyFile, passphraseFile, spki });
          // Only the first issuer signs certificates. The keys of the others
          // may be missing at start.
          if (index === 0) {
            await key.open();
          }
          return key;
        },
      }),
    ),
  );
  return await LocalSigner.open({
    issuers,
    profiles,
    publicUrl: signer.publicUrl ?? publicUrl,
    logFolder: signer.logFolder,
    limit: signer.limit,
    warn,
    now,
  });
}
