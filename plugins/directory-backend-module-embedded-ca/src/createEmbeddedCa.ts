import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Knex } from 'knex';
import { AuthorityStore } from './authority/AuthorityStore';
import { CurrentAuthority } from './authority/CurrentAuthority';
import { KeyFile } from './authority/KeyFile';
import { CertificateStore } from './certificates/CertificateStore';
import type { EmbeddedCaConfig } from './config';
import { EmbeddedAuthority } from './EmbeddedAuthority';
import { RevocationLists } from './revocation/RevocationLists';
import { RevocationStore } from './revocation/RevocationStore';

/** Components of the embedded CA. */
export interface EmbeddedCa {
  readonly currentAuthority: CurrentAuthority;
  readonly authority: EmbeddedAuthority;
  readonly lists: RevocationLists;
  readonly revocations: RevocationStore;
}

/**
 * Creates the embedded CA on a migrated database and opens it with the key of
 * this instance.
 */
export async function createEmbeddedCa(options: {
  readonly config: EmbeddedCaConfig;
  readonly database: Knex;
  /** URL of the CRL. */
  readonly crlUrl: string;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}): Promise<EmbeddedCa> {
  const { config, database, crlUrl, logger, now } = options;
  const currentAuthority = await CurrentAuthority.create({
    config,
    keyFile: new KeyFile({
      path: config.keyFile,
      passphraseFile: config.passphraseFile,
    }),
    authorities: new AuthorityStore(database),
    logger,
  });
  const revocations = new RevocationStore(database);
  const lists = new RevocationLists({
    currentAuthority,
    revocations,
    validityMs: config.listValidityMs,
    logger,
    now,
  });
  const authority = new EmbeddedAuthority({
    currentAuthority,
    certificates: new CertificateStore(database),
    lists,
    profiles: config.profiles,
    cacn: config.cacn,
    crlUrl,
    logger,
    now,
  });
  return { currentAuthority, authority, lists, revocations };
}
