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
import { ActionGate } from './actions/ActionGate';
import { clientAddressServiceRef } from './actions/ActionGate';
import { registerAcceptDirectory } from './actions/registerActions';
import { registerRevokeCertificate } from './actions/registerActions';
import { readDirectoryConfig } from './config';
import { createDirectory } from './createDirectory';
import { CertificateAuthorities } from './certificates/CertificateAuthorities';
import { createCertificateOperations } from './createCertificates';
import { scheduleReminders } from './certificates/expiry/scheduleReminders';
import { UserCertificates } from './certificates/CertificateReader';
import { AccessControl } from './http/access/AccessControl';
import { accountOperation } from './http/resources/me';
import { Authenticator } from './http/access/Authenticator';
import { colleaguesOperation } from './http/resources/me';
import { contractOperations } from './http/resources/createOperations';
import { createRouter, type RouterOptions } from './http/createRouter';
import { contractDialect } from './http/contractDialect';
import { FASJSON_ROOT, fasjsonDialect } from './http/fasjson/fasjsonDialect';
import { publishDocuments } from './http/documents/publishDocuments';
import { publishHealth } from './http/documents/publishHealth';
import { exportMembersOperation } from './http/resources/exportMembers';
import { membershipOperations } from './http/resources/groups';
import { operationsOperation } from './http/resources/me';
import { PortalUserNames } from './directory/PortalUserNames';
import { PublicDocuments } from './http/documents/PublicDocuments';
import { ResourceUris } from './http/response/ResourceUris';
import { openSessions } from './http/session/Sessions';
import { searchGroupsOperation } from './http/resources/search';
import { userCertificatesOperation } from './http/resources/users';

/**
 * Maximum delay of the portal's readiness by the first sync, so that an
 * unavailable directory does not stop a rolling update.
 */
const MAX_READINESS_DELAY_MS = 60_000;

/**
 * The directory gateway: answers `/api/directory/v1/` from the directory that
 * `directory.ldap` names, to holders of a Kerberos ticket and of a token of
 * the portal.
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
        // First: its middleware has to precede the actions registry's routes.
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
        permissions: coreServices.permissions,
        notifications: notificationService,
        permissionsRegistry: coreServices.permissionsRegistry,
        readinessChecks: readinessChecksServiceRef,
        scheduler: coreServices.scheduler,
      },
      async init(deps) {
        const { auth, httpAuth, httpRouter, logger } = deps;
        const config = readDirectoryConfig(deps.config);
        const { certificates, fasjson } = config;
        const externalBaseUrl = await deps.discovery.getExternalBaseUrl(
          'directory',
        );
        requireSecureTransport(externalBaseUrl, 'backend.baseUrl');
        const fasjsonUrl =
          fasjson?.baseUrl ?? `${externalBaseUrl}${FASJSON_ROOT}`;
        requireSecureTransport(fasjsonUrl, 'directory.fasjson.baseUrl');

        const sessions =
          config.sessions &&
          (await openSessions({
            config: config.sessions,
            audience: externalBaseUrl,
            places: [
              // Where clients of FASJSON know no more of the portal than this.
              ...(fasjson?.baseUrl
                ? [{ root: FASJSON_ROOT, url: fasjson.baseUrl }]
                : []),
              { root: '', url: externalBaseUrl },
            ],
            logger,
          }));

        const { directory, accounts, quarantines, replica } =
          await createDirectory({
            config,
            authorities,
            database: deps.database,
            lifecycle: deps.lifecycle,
            logger,
          });
        const uris = new ResourceUris(externalBaseUrl);
        const certificateOperations =
          certificates &&
          (await createCertificateOperations({
            authorities,
            config: certificates,
            accounts,
            privateDirectory: directory,
            uris,
            auditor: deps.auditor,
            database: deps.database,
          }));
        const rooms = {
          directory,
          uris,
          certificates: certificateOperations,
        };
        const contract = contractDialect(uris);
        const forFasjson = fasjsonDialect(new ResourceUris(fasjsonUrl));

        deps.readinessChecks.add({
          name: 'directory replica',
          maxWaitMs: MAX_READINESS_DELAY_MS,
          isReady: () => replica.status.kind !== 'starting',
        });
        publishDocuments(publicDocuments, contract);
        publishHealth(publicDocuments, { replica });
        if (fasjson) {
          publishDocuments(publicDocuments, forFasjson);
          publishHealth(publicDocuments, {
            root: FASJSON_ROOT,
            replica,
            failureTitle: 'LDAP server is down',
          });
        }
        const portalUserNames = new PortalUserNames({
          config: config.portalUsers,
          trustedLocations: config.trustedLocations,
          auth,
          catalog: deps.catalog,
          logger,
        });

        const authenticator = new Authenticator({
          kerberos: deps.kerberos,
          httpAuth,
          auth,
          accounts,
          portalUserNames,
          sessions,
        });
        const access = new AccessControl({
          permissions: deps.permissions,
          rules: config.access,
        });

        const { actionsRegistry, auditor, clientAddress } = deps;
        const gate = new ActionGate({
          authenticator,
          access,
          accounts,
          clientAddress,
        });
        registerAcceptDirectory({
          actionsRegistry,
          auditor,
          gate,
          quarantines,
        });
        if (certificateOperations) {
          const { revocationDesk: desk } = certificateOperations;
          registerRevokeCertificate({ actionsRegistry, gate, desk });
        }

        deps.permissionsRegistry.addPermissions([...directoryPermissions]);
        const mounts: RouterOptions['mounts'] = [
          {
            dialect: contract,
            operations: [
              ...contractOperations({ ...rooms, dialect: contract }),
              accountOperation({ accounts }),
              operationsOperation({ access, certificates }),
              colleaguesOperation(rooms),
              ...membershipOperations(rooms),
              exportMembersOperation({ ...rooms, auditor: deps.auditor }),
              searchGroupsOperation(rooms),
              userCertificatesOperation({
                certificates: new UserCertificates({
                  directory,
                  authority: authorities,
                }),
                uris,
              }),
              ...(certificateOperations?.extensions ?? []),
            ],
          },
          ...(fasjson
            ? [
                {
                  dialect: forFasjson,
                  operations: contractOperations({
                    ...rooms,
                    dialect: forFasjson,
                  }),
                },
              ]
            : []),
        ];
        // The framework knows portal tokens only. It leaves to the router what
        // the router authenticates or publishes, and keeps everything else,
        // such as the routes of its scheduler in this plugin.
        for (const path of [
          '/v:version',
          FASJSON_ROOT,
          ...publicDocuments.paths,
        ]) {
          httpRouter.addAuthPolicy({
            // `/` would match every path; escaped, it matches the root only.
            path: path === '/' ? String.raw`\/` : path,
            allow: 'unauthenticated',
          });
        }
        httpRouter.use(
          createRouter({
            publicDocuments,
            authenticator,
            access,
            accounts,
            mounts,
            ownOrigin: new URL(externalBaseUrl).origin,
            logger,
          }),
        );
        if (certificates) {
          await scheduleReminders({
            ...deps,
            authorities,
            portalUserNames,
            accounts,
            config: certificates.reminders,
          });
        }
      },
    });
  },
});
