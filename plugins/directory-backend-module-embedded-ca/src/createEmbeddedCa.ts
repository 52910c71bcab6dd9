import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Knex } from 'knex';
import { CurrentAuthority } from './authority/CurrentAuthority';
import { AuthorityStore } from './authority/AuthorityStore';
import { KeyFile } from './authority/KeyFile';
import { CertificateStore } from './certificates/CertificateStore';
import type { EmbeddedCaConfig } from './config';
import { EmbeddedAuthority } from './EmbeddedAuthority';
import { RevocationLists } from './revocation/RevocationLists';
import { RevocationStore } from './revocation/RevocationStore';
import { Revoker } from './revocation/RevocationLists';

/** The parts of the authority that the portal is given. */
export interface EmbeddedCa {
  readonly keeper: CurrentAuthority;
  readonly authority: EmbeddedAuthority;
  readonly lists: RevocationLists;
  readonly revocations: RevocationStore;
  readonly revoker: Revoker;
}

/**
 * Puts the authority together on a database whose tables are there, and opens
 * it with the key of this node.
 */
export async function createEmbeddedCa(options: {
  readonly config: EmbeddedCaConfig;
  readonly database: Knex;
  /** Where the revocation list will be served. */
  readonly crlUrl: string;
  readonly logger: LoggerService;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
}): Promise<EmbeddedCa> {
  const { config, database, crlUrl, logger, now } = options;
  const keeper = await CurrentAuthority.create({
    config,
    keyFile: new KeyFile({
      path: config.keyFile,
      passphraseFile: config.passphraseFile,
    }),
    authorities: new AuthorityStore(database),
    logger,
  });
  const revocations = new RevocationStore(database);
  const { listValidityMs: validityMs } = config;
  const lists = new RevocationLists({ keeper, revocations, validityMs, now });
  const revoker = new Revoker({ revocations, lists, logger, now });
  return {
    keeper,
    revocations,
    lists,
    revoker,
    authority: new EmbeddedAuthority({
      ...config,
      keeper,
      certificates: new CertificateStore(database),
      revoker,
      crlUrl,
      logger,
      now,
    }),
  };
}
