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
import directoryModuleEmbeddedCa from '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  TrustedLocations,
} from '@directory-gateway/backstage-plugin-directory-node';
import { CertificateAuthorities } from '../../certificates/CertificateAuthorities';
import { readCertificatesConfig } from '../../certificates/CertificatesConfig';
import { ExpiryReminders } from '../../certificates/expiry/ExpiryReminders';
import { openDatabase } from '../../openDatabase';
import { PortalUserNames } from '../../portalUsers/PortalUserNames';
import { PublicDocuments } from '../../http/documents/PublicDocuments';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { Accounts } from '@directory-gateway/directory-core';
import { configureAuthorities } from './openAuthorities';

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

/** The reminders and the records that they read. */
type Opened = ReturnType<typeof configureAuthorities> & {
  readonly reminders: ExpiryReminders;
};

/** Payload of a notification. */
type Payload = Readonly<Record<string, string>>;

/**
 * A Backstage instance with the embedded CA and the notifications plugin.
 * Reminders run when a test calls `remind`, at the time of its clock.
 */
export class ReminderPortal {
  readonly logger: RecordingLogger;
  readonly #backend: TestBackend;
  readonly #opened: Opened;

  private constructor(options: {
    readonly logger: RecordingLogger;
    readonly backend: TestBackend;
    readonly opened: Opened;
  }) {
    this.logger = options.logger;
    this.#backend = options.backend;
    this.#opened = options.opened;
  }

  static async start(options: ReminderPortalOptions): Promise<ReminderPortal> {
    const { certificates, database, hasNotifications = true } = options;
    const logger = new RecordingLogger();
    const created = new Array<Opened>();
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
        reminderPlugin({ ...options, logger }, opened => created.push(opened)),
        ...(hasNotifications ? [notificationsPlugin] : []),
      ],
    });
    const [opened] = created;
    return new ReminderPortal({ logger, backend, opened });
  }

  /** Runs the reminders like the scheduler. */
  async remind(): Promise<void> {
    await this.#opened.reminders.run(new AbortController().signal);
  }

  /** Signs a certificate and returns its decimal serial number. */
  async sign(options: {
    readonly username: string;
    readonly profile: string;
  }): Promise<string> {
    const { username, profile } = options;
    const issued = await this.#opened.issue({ owner: { username }, profile });
    return String(issued.serialNumber);
  }

  async revoke(serial: string): Promise<void> {
    await this.#opened.authorities.revoke('embedded', {
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
  options: ReminderPortalOptions & { readonly logger: RecordingLogger },
  onCreated: (opened: Opened) => unknown,
): BackendFeature {
  const { accounts, certificates, logger, now } = options;
  const authorities = new CertificateAuthorities();
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
          const opened = await openDatabase(database);
          const tables = configureAuthorities(opened, authorities, config);
          onCreated({
            ...tables,
            reminders: new ExpiryReminders({
              ...tables,
              accounts,
              logger,
              now,
              config: config.reminders,
              replicated: { usernameOf: () => undefined },
              database: opened,
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
          });
        },
      });
    },
  });
}
