import {
  coreServices,
  createBackendPlugin,
} from '@backstage/backend-plugin-api';
import { actionsRegistryServiceRef } from '@backstage/backend-plugin-api/alpha';
import { catalogServiceRef } from '@backstage/plugin-catalog-node';
import { notificationService } from '@backstage/plugin-notifications-node';
import { directoryPermissions } from '@directory-gateway/backstage-plugin-directory-common';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  readinessChecksServiceRef,
  requireSecureTransport,
} from '@directory-gateway/backstage-plugin-directory-node';
import { kerberosServiceRef } from '@directory-gateway/kerberos';
import { clientAddressServiceRef } from './actions/ActionGate';
import { registerActions } from './actions/registerActions';
import { CertificateAuthorities } from './certificates/CertificateAuthorities';
import { findIgnoredSettings, readDirectoryConfig } from './config';
import {
  createCertificates,
  openCertificateRecords,
} from './createCertificates';
import { createDirectory } from './createDirectory';
import { PortalUserNames } from './portalUsers/PortalUserNames';
import { AccessControl } from './access/AccessControl';
import { Callers } from './access/Callers';
import { addResourceTypes } from './access/visibility';
import { Authenticator } from './http/Authenticator';
import { contractDialect } from './http/contractDialect';
import { createApi } from './http/createApi';
import { PublicDocuments } from './http/documents/PublicDocuments';
import { fasjsonDialects } from './http/fasjson/fasjsonDialect';
import { Sessions } from './http/session/Sessions';
import { openDatabase } from './openDatabase';

/**
 * The backend plugin of the directory gateway: the REST API below
 * `/api/directory/v1/` for the directory that `directory.ldap` configures, for
 * Kerberos clients and users of the portal.
 *
 * @public
 */
export const directoryPlugin = createBackendPlugin({
  pluginId: 'directory',
  register(env) {
    const authorities = new CertificateAuthorities();
    env.registerExtensionPoint(
      directoryCertificateAuthoritiesExtensionPoint,
      authorities,
    );
    const publicDocuments = new PublicDocuments();
    env.registerExtensionPoint(
      directoryPublicDocumentsExtensionPoint,
      publicDocuments,
    );
    env.registerInit({
      deps: {
        // First: its middleware must precede the routes of the actions registry.
        clientAddress: clientAddressServiceRef,
        actionsRegistry: actionsRegistryServiceRef,
        auditor: coreServices.auditor,
        auth: coreServices.auth,
        catalog: catalogServiceRef,
        config: coreServices.rootConfig,
        database: coreServices.database,
        discovery: coreServices.discovery,
        httpAuth: coreServices.httpAuth,
        httpRouter: coreServices.httpRouter,
        kerberos: kerberosServiceRef,
        lifecycle: coreServices.lifecycle,
        logger: coreServices.logger,
        notifications: notificationService,
        permissions: coreServices.permissions,
        permissionsRegistry: coreServices.permissionsRegistry,
        readinessChecks: readinessChecksServiceRef,
        scheduler: coreServices.scheduler,
      },
      async init(services) {
        const config = readDirectoryConfig(services.config);
        for (const warning of findIgnoredSettings(services.config)) {
          services.logger.warn(warning);
        }
        const { discovery, permissionsRegistry } = services;
        const baseUrl = await discovery.getExternalBaseUrl('directory');
        requireSecureTransport(baseUrl, 'backend.baseUrl');
        const dialects = [
          contractDialect(baseUrl),
          ...fasjsonDialects(services.config, baseUrl),
        ] as const;
        const database = await openDatabase(services.database);
        const context = {
          ...services,
          authorities,
          baseUrl,
          config,
          database,
          dialects,
          publicDocuments,
        };
        const sessions = await Sessions.create(context);
        const portalUserNames = new PortalUserNames({
          ...services,
          config: config.portalUsers,
          trustedLocations: config.trustedLocations,
        });
        const certificateRecords = await openCertificateRecords(context);
        const opened = { ...context, certificateRecords };
        const directory = await createDirectory(opened);
        const shared = { ...opened, ...directory, portalUserNames };
        const certificates = createCertificates(shared);
        const callers = new Callers(shared);
        const authenticator = new Authenticator({
          ...services,
          callers,
          sessions,
        });
        const access = new AccessControl({ ...services, rules: config.access });
        const api = {
          ...shared,
          access,
          authenticator,
          callers,
          certificates,
        };

        permissionsRegistry.addPermissions([...directoryPermissions]);
        addResourceTypes(shared);
        registerActions(api);
        createApi(api);
        await certificates?.scheduleTasks();
      },
    });
  },
});
