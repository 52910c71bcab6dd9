import {
  coreServices,
  createBackendModule,
  resolvePackagePath,
} from '@backstage/backend-plugin-api';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  type DirectoryPublicDocumentsExtensionPoint,
  migrateDatabase as migrate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Knex } from 'knex';
import { CaIssuer } from './CaIssuer';
import { type EmbeddedCaConfig, readEmbeddedCaConfig } from './config';
import { EmbeddedAuthority } from './EmbeddedAuthority';
import { RecordedIssuers } from './RecordedIssuers';
import { RevocationList, type RevocationListOptions } from './RevocationList';

/** Registered name of the CA. */
const NAME = 'embedded';

/**
 * Registers the certificate authority `embedded`, which signs with a key of the
 * portal, when `directory.certificates.embedded` is configured.
 *
 * @public
 */
export const directoryModuleEmbeddedCa = createBackendModule({
  pluginId: 'directory',
  moduleId: 'embedded-ca',
  register(env) {
    env.registerInit({
      deps: {
        authorities: directoryCertificateAuthoritiesExtensionPoint,
        config: coreServices.rootConfig,
        database: coreServices.database,
        discovery: coreServices.discovery,
        logger: coreServices.logger,
        publicDocuments: directoryPublicDocumentsExtensionPoint,
        scheduler: coreServices.scheduler,
      },
      async init({ authorities, logger, publicDocuments, scheduler, ...deps }) {
        const config = readEmbeddedCaConfig(deps.config);
        if (!config) {
          return;
        }
        if (process.env.NODE_ENV === 'production') {
          logger.warn(
            'The key of the embedded CA is in the process of the portal, together with all plugins: docs/security.md compares the CAs',
          );
        }
        const database = await deps.database.getClient();
        if (!deps.database.migrations?.skip) {
          await migrateDatabase(database);
        }
        const { authority, maintain } = await createEmbeddedCa({
          config,
          database,
          revocations: authorities.recordsOf(NAME),
          publicDocuments,
          publicUrl: await deps.discovery.getExternalBaseUrl('directory'),
          logger,
        });
        authorities.addAuthority(NAME, authority);
        // Runs on every instance: each may have the key of another issuer. The
        // first run waits until the gateway has migrated its database.
        await scheduler.scheduleTask({
          id: 'embedded-ca-maintenance',
          scope: 'local',
          frequency: { minutes: 1 },
          timeout: { minutes: 1 },
          fn: maintain,
        });
      },
    });
  },
});

/**
 * Creates the embedded CA on a migrated database, and publishes certificates and
 * CRLs of its issuers and roots at the URLs that certificates contain.
 *
 * @returns the CA, and a task for every minute, which signs the CRLs that are
 *   due and logs a failure
 * @throws InputError when the chain of an issuer or a root is invalid.
 */
export async function createEmbeddedCa(
  options: Pick<RevocationListOptions, 'revocations' | 'logger' | 'now'> & {
    readonly config: EmbeddedCaConfig;
    readonly database: Knex;
    readonly publicDocuments: DirectoryPublicDocumentsExtensionPoint;
    /** URL below which documents are published, unless it is configured. */
    readonly publicUrl: string;
  },
) {
  const { config, publicDocuments, logger } = options;
  const issuers = await Promise.all(config.issuers.map(CaIssuer.read));
  const roots = await Promise.all(config.roots.map(CaIssuer.read));
  const recorded = new RecordedIssuers(options.database);
  for (const issuer of issuers) {
    await recorded.record(issuer);
  }
  const validityMs = config.crlValidityMs;
  const lists = new Map(
    issuers
      .filter(({ issuer }) => issuer)
      .map(issuer => [
        issuer.id,
        new RevocationList(issuer, { ...options, recorded, validityMs }),
      ]),
  );
  const published = new Map(
    [...roots, ...issuers].map(issuer => [issuer.name, issuer]),
  );
  publicDocuments.addPublicDocument({
    path: '/ca/:issuer/certificate',
    contentType: 'application/pkix-cert',
    read: async name =>
      published.get(name)?.chain[0] ?? (await recorded.find(name))?.certificate,
  });
  publicDocuments.addPublicDocument({
    path: '/ca/:issuer/crl',
    contentType: 'application/pkix-crl',
    async read(name) {
      const issuer = published.get(name);
      if (issuer) {
        return await (lists.get(issuer.id)?.read() ?? issuer.readFixedCrl());
      }
      return (await recorded.find(name))?.crl?.crl;
    },
  });
  const authority = new EmbeddedAuthority({
    ...options,
    ...config,
    issuer: issuers[0],
    lists,
    publicUrl: config.publicUrl ?? options.publicUrl,
  });
  let failure: string | undefined;
  async function maintain(): Promise<void> {
    const results = await Promise.allSettled([
      issuers[0].openKey(),
      ...[...lists.values()].map(list => list.renew()),
    ]);
    const failed = results.find(({ status }) => status === 'rejected');
    const reason = failed && String((failed as PromiseRejectedResult).reason);
    // Logged once.
    if (reason && reason !== failure) {
      logger.error(`The embedded CA cannot sign: ${reason}`);
    }
    failure = reason;
  }
  return { authority, maintain };
}

/** Runs the migrations of the module's tables. */
export async function migrateDatabase(database: Knex): Promise<void> {
  await migrate({
    database,
    directory: resolvePackagePath(
      '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca',
      'migrations',
    ),
    tableName: 'embedded_ca_migrations',
  });
}
