import { databaseServiceFactory } from '@backstage/backend-defaults/database';
import {
  coreServices,
  createBackendPlugin,
  type BackendFeature,
} from '@backstage/backend-plugin-api';
import {
  mockCredentials,
  mockServices,
  startTestBackend,
  type TestBackend,
} from '@backstage/backend-test-utils';
import { ConfigReader } from '@backstage/config';
import { catalogServiceMock } from '@backstage/plugin-catalog-node/testUtils';
import notificationsPlugin from '@backstage/plugin-notifications-backend';
import { notificationService } from '@backstage/plugin-notifications-node';
import type { JsonObject } from '@backstage/types';
import { X509Certificate } from 'node:crypto';
import directoryModuleEmbeddedCa from '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  TrustedLocations,
} from '@directory-gateway/backstage-plugin-directory-node';
import { CertificateAuthorities } from '../../certificates/CertificateAuthorities';
import { readCertificatesConfig } from '../../certificates/CertificatesConfig';
import { ExpiryReminders } from '../../certificates/expiry/ExpiryReminders';
import { ReminderLedger } from '../../certificates/expiry/ReminderLedger';
import { openDatabase } from '../../openDatabase';
import type { Accounts } from '../../directory/Accounts';
import { PortalUserNames } from '../../directory/PortalUserNames';
import { PublicDocuments } from '../../http/documents/PublicDocuments';
import {
  createSigningRequest,
  RecordingLogger,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/** Options of {@link ReminderPortal.start}. */
export interface ReminderPortalOptions {
  readonly accounts: Pick<Accounts, 'findLive'>;
  /** Value of `backend.database`. */
  readonly database: JsonObject;
  /** Value of `directory.certificates`. */
  readonly certificates: JsonObject;
  /** Whether to install the notifications plugin. Default: true. */
  readonly hasNotifications?: boolean;
  /** Returns the time for reminders, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Payload of a notification. */
type Payload = Readonly<Record<string, string>>;

/**
 * A Backstage instance with the embedded CA and the notifications plugin.
 * Reminders run when a test calls `remind`, at the time of its clock.
 */
export class ReminderPortal {
  readonly logger: RecordingLogger;
  readonly #backend: TestBackend;
  readonly #authorities: CertificateAuthorities;
  readonly #reminders: ExpiryReminders;

  private constructor(options: {
    readonly logger: RecordingLogger;
    readonly backend: TestBackend;
    readonly authorities: CertificateAuthorities;
    readonly reminders: ExpiryReminders;
  }) {
    this.logger = options.logger;
    this.#backend = options.backend;
    this.#authorities = options.authorities;
    this.#reminders = options.reminders;
  }

  static async start(options: ReminderPortalOptions): Promise<ReminderPortal> {
    const { certificates, database, hasNotifications = true } = options;
    const authorities = new CertificateAuthorities();
    const logger = new RecordingLogger();
    const created = new Array<ExpiryReminders>();
    const backend = await startTestBackend({
      features: [
        mockServices.rootConfig.factory({
          data: {
            app: { baseUrl: 'http://localhost:3000' },
            backend: { baseUrl: 'http://localhost:7007', database },
            directory: { certificates },
          },
        }),
        databaseServiceFactory,
        catalogServiceMock.factory(),
        directoryModuleEmbeddedCa,
        reminderPlugin({ ...options, authorities, logger }, reminders =>
          created.push(reminders),
        ),
        ...(hasNotifications ? [notificationsPlugin] : []),
      ],
    });
    const [reminders] = created;
    return new ReminderPortal({ logger, backend, authorities, reminders });
  }

  /** Runs the reminders like the scheduler. */
  async remind(): Promise<void> {
    await this.#reminders.run(new AbortController().signal);
  }

  /** Signs a certificate and returns its decimal serial number. */
  async sign(options: {
    readonly username: string;
    readonly profile: string;
  }): Promise<string> {
    const principal = `${options.username}@EXAMPLE.TEST`;
    const { certificate } = await this.#authorities.sign(
      createSigningRequest({ ...options, principal }),
    );
    const { serialNumber } = new X509Certificate(certificate.der);
    return String(BigInt(`0x${serialNumber}`));
  }

  async revoke(serial: string): Promise<void> {
    await this.#authorities.revoke({
      serialNumber: BigInt(serial),
      reason: 'unspecified',
      revokedBy: 'user:default/admin',
    });
  }

  /** Returns the notifications of a portal user. */
  async messagesOf(username: string): Promise<readonly Payload[]> {
    const url = `http://localhost:${this.#backend.server.port()}/api/notifications`;
    const user = `user:default/${username}`;
    const response = await fetch(url, {
      headers: { Authorization: mockCredentials.user.header(user) },
    });
    const { notifications } = (await response.json()) as {
      notifications: { payload: Payload }[];
    };
    return notifications.map(({ payload }) => payload);
  }

  async stop(): Promise<void> {
    await this.#backend.stop();
  }
}

/** Creates a plugin that has only the reminders. */
function reminderPlugin(
  options: ReminderPortalOptions & {
    readonly authorities: CertificateAuthorities;
    readonly logger: RecordingLogger;
  },
  onCreated: (reminders: ExpiryReminders) => unknown,
): BackendFeature {
  const { accounts, authorities, certificates, logger, now } = options;
  return createBackendPlugin({
    pluginId: 'directory',
    register(env) {
      env.registerExtensionPoint(
        directoryCertificateAuthoritiesExtensionPoint,
        authorities,
      );
      env.registerExtensionPoint(
        directoryPublicDocumentsExtensionPoint,
        new PublicDocuments(),
      );
      env.registerInit({
        deps: {
          auth: coreServices.auth,
          database: coreServices.database,
          discovery: coreServices.discovery,
          notifications: notificationService,
        },
        async init({ auth, database, discovery, notifications }) {
          const block = new ConfigReader({ certificates });
          const config = readCertificatesConfig(block)!;
          authorities.configure(config);
          onCreated(
            new ExpiryReminders({
              accounts,
              logger,
              now,
              authority: authorities,
              config: config.reminders,
              ledger: new ReminderLedger(await openDatabase(database)),
              discovery,
              notifications,
              portalUserNames: new PortalUserNames({
                config: { namespace: 'default', username: 'entityName' },
                trustedLocations: TrustedLocations.fromConfig(
                  new ConfigReader({}),
                ),
                auth,
                catalog: catalogServiceMock(),
                logger,
              }),
            }),
          );
        },
      });
    },
  });
}
