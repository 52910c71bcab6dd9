import { createBackend } from '@backstage/backend-defaults';
import {
  type BackendFeature,
  coreServices,
  createBackendModule,
  createBackendPlugin,
  createServiceFactory,
  type LoggerService,
} from '@backstage/backend-plugin-api';
import { mockServices } from '@backstage/backend-test-utils';
import authPlugin from '@backstage/plugin-auth-backend';
import guestProvider from '@backstage/plugin-auth-backend-module-guest-provider';
import catalogPlugin from '@backstage/plugin-catalog-backend';
import notificationsPlugin from '@backstage/plugin-notifications-backend';
import permissionPlugin from '@backstage/plugin-permission-backend';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import { policyExtensionPoint } from '@backstage/plugin-permission-node/alpha';
import searchPlugin from '@backstage/plugin-search-backend';
import userSettingsPlugin from '@backstage/plugin-user-settings-backend';
import type { JsonObject } from '@backstage/types';
import { freePorts } from '@directory-gateway/realm';
import { EventEmitter } from 'node:events';
import {
  request,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http';
import { text } from 'node:stream/consumers';

interface LogRecord {
  message: string;
  meta?: JsonObject | Error;
}

/** Records of the root logger and its children, in order. */
class LogRecorder extends EventEmitter implements LoggerService {
  readonly records: LogRecord[] = [];

  error = (message: string, meta?: JsonObject | Error) =>
    this.#record({ message, meta });
  warn = this.error;
  info = this.error;
  debug = this.error;
  child = () => this;

  #record(record: LogRecord) {
    this.records.push(record);
    this.emit('record', record);
  }

  /** Returns the next record of the request log. */
  nextRequest(): Promise<LogRecord> {
    return new Promise(resolve => {
      const listener = (record: LogRecord) => {
        const { meta } = record;
        if (meta && 'type' in meta && meta.type === 'incomingRequest') {
          this.off('record', listener);
          resolve(record);
        }
      };
      this.on('record', listener);
    });
  }
}

const probePlugin = createBackendPlugin({
  pluginId: 'probe',
  register(env) {
    env.registerInit({
      deps: { rootHttpRouter: coreServices.rootHttpRouter },
      async init({ rootHttpRouter: router }) {
        router.use('/probe', (_req, res) => res.send('probed'));
        router.use('/broken', () => {
          throw new Error('broken on purpose');
        });
        router.use('/api/served', (_req, res) => {
          res.send('served');
        });
      },
    });
  },
});

/**
 * Fails as a plugin does when its database fails, with the status that follows
 * `/api/failing/`, or 500.
 */
const failingPlugin = createBackendPlugin({
  pluginId: 'failing',
  register(env) {
    env.registerInit({
      deps: { httpRouter: coreServices.httpRouter },
      async init({ httpRouter }) {
        httpRouter.addAuthPolicy({ path: '/', allow: 'unauthenticated' });
        httpRouter.use((req, _res, next) => {
          const error = new Error('select * from `people` - no such table');
          const status = Number(req.path.slice(1)) || undefined;
          const cause = new Error('driver');
          next(Object.assign(error, { cause, code: 'S', status }));
        });
      },
    });
  },
});

type Decision = AuthorizeResult.ALLOW | AuthorizeResult.DENY;

/** A permission policy with the same decision for every request. */
const policyWith = (result: Decision) =>
  createBackendModule({
    pluginId: 'permission',
    moduleId: 'constant',
    register(env) {
      env.registerInit({
        deps: { policy: policyExtensionPoint },
        async init({ policy }) {
          policy.setPolicy({ handle: async () => ({ result }) });
        },
      });
    },
  });

/** A backend with several of Backstage's plugins, for requests of tests. */
export class TestBackend {
  /** Response to a request that precedes the route of its plugin. */
  responseDuringStart: Awaited<ReturnType<TestBackend['get']>> | undefined;
  readonly log = new LogRecorder();
  readonly #backend = createBackend();
  readonly #port: number;

  /**
   * Starts the backend.
   *
   * @param decision - of the permission policy for every request
   * @param database - value of `backend.database`
   * @param features - in addition to the plugins, such as the root HTTP router
   */
  static async start(
    decision: Decision,
    database: JsonObject,
    ...features: BackendFeature[]
  ): Promise<TestBackend> {
    const [port] = await freePorts(1);
    const started = new TestBackend(port, database, [
      policyWith(decision),
      ...features,
    ]);
    await started.#backend.start();
    return started;
  }

  private constructor(
    port: number,
    database: JsonObject,
    features: BackendFeature[],
  ) {
    this.#port = port;
    const rootConfig = mockServices.rootConfig.factory({
      data: {
        app: { baseUrl: 'https://pages.example.test' },
        auth: {
          providers: { guest: { dangerouslyAllowOutsideDevelopment: true } },
        },
        backend: {
          actions: { pluginSources: ['catalog', 'search'] },
          baseUrl: `https://portal.example.test:8443/`,
          listen: { host: '127.0.0.1', port },
          cors: { origin: 'https://pages.example.test' },
          database,
          lifecycle: { startupRequestPauseTimeout: { hours: 1 } },
        },
        permission: { enabled: true },
        rootHttpRouter: { allowedHosts: ['proxy.example.test'] },
      },
    });
    const rootLogger = createServiceFactory({
      service: coreServices.rootLogger,
      deps: {},
      factory: () => this.log,
    });
    const startingPlugin = createBackendPlugin({
      pluginId: 'starting',
      register: env =>
        env.registerInit({
          deps: { rootHttpRouter: coreServices.rootHttpRouter },
          init: async ({ rootHttpRouter: router }) => {
            this.responseDuringStart = await this.get('/api/late/');
            router.use('/api/late/', (_req, res) => res.send('started'));
          },
        }),
    });
    for (const feature of [
      startingPlugin,
      rootConfig,
      rootLogger,
      probePlugin,
      failingPlugin,
      authPlugin,
      guestProvider,
      catalogPlugin,
      notificationsPlugin,
      permissionPlugin,
      searchPlugin,
      userSettingsPlugin,
      ...features,
    ]) {
      this.#backend.add(feature);
    }
  }

  stop(): Promise<void> {
    return this.#backend.stop();
  }

  /** Sends a request with a JSON body; without one if it is undefined. */
  send(options: RequestOptions, body?: unknown) {
    return new Promise<{
      status: number | undefined;
      headers: IncomingHttpHeaders;
      body: string;
    }>((resolve, reject) => {
      request({ host: '127.0.0.1', port: this.#port, ...options })
        .on('response', response => {
          text(response).then(
            received =>
              resolve({
                status: response.statusCode,
                headers: response.headers,
                body: received,
              }),
            reject,
          );
        })
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  get(path: string, headers: OutgoingHttpHeaders = {}) {
    return this.send({ path, headers });
  }
}
