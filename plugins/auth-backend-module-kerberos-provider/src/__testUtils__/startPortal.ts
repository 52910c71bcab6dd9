import {
  coreServices,
  createBackendPlugin,
  createServiceFactory,
} from '@backstage/backend-plugin-api';
import { mockServices, startTestBackend } from '@backstage/backend-test-utils';
import type { Entity } from '@backstage/catalog-model';
import authPlugin from '@backstage/plugin-auth-backend';
import { catalogServiceMock } from '@backstage/plugin-catalog-node/testUtils';
import type { JsonArray } from '@backstage/types';
import {
  kerberosServiceRef,
  type KerberosResult,
} from '@directory-gateway/kerberos';
import Router from 'express-promise-router';
import { authModuleKerberosProvider } from '../module';

/** Origin location of entities written by administrators. */
export const TRUSTED_LOCATION = 'file:/etc/portal/org.yaml';

/** Configuration and data of the portal under test. */
export interface TestPortalOptions {
  /** `auth.providers.kerberos.signIn.resolvers`. */
  readonly resolvers?: JsonArray;
  /** `kerberos.realms`. */
  readonly realms?: readonly string[];
  /** `kerberos.realm`. */
  readonly realm?: string;
  /** `directory.trustedLocations`. Default: {@link TRUSTED_LOCATION}. */
  readonly trustedLocations?: readonly string[];
  /** `catalog.rules`. */
  readonly catalogRules?: JsonArray;
  /** Entities in the catalog. */
  readonly users?: readonly Entity[];
  /** Directory accounts by principal. Default: the directory is unavailable. */
  readonly accounts?: Readonly<Record<string, DirectoryAccount>>;
}

/** An account as returned by the `directory` plugin. */
export interface DirectoryAccount {
  readonly username: string;
  readonly locked?: boolean;
  readonly expired?: boolean;
  /**
   * Membership paths by group name: the names of the groups from the user's
   * direct group to this one. Default: the API does not serve the account as a
   * user.
   */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
}

/** The running auth plugin with the module. */
export interface TestPortal {
  /** Requests an identity with `Authorization: Negotiate <principal>`. */
  refresh(
    principal?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** Returns the complete log. */
  readonly logged: () => string;
  stop(): Promise<void>;
}

/**
 * Starts a portal that accepts principals instead of tickets. The browser tests
 * of the portal use real tickets.
 */
export async function startPortal(
  options: TestPortalOptions,
): Promise<TestPortal> {
  const { users = [], realm, realms = [], resolvers } = options;
  const { trustedLocations = [TRUSTED_LOCATION], catalogRules } = options;
  const logger = mockServices.rootLogger.mock({
    child: () => logger,
  });
  const backend = await startTestBackend({
    features: [
      authPlugin,
      authModuleKerberosProvider,
      directoryWith(options.accounts),
      catalogServiceMock.factory({ entities: [...users] }),
      createServiceFactory({
        service: kerberosServiceRef,
        deps: {},
        factory: () => ({ accept: async header => accept(header) }),
      }),
      createServiceFactory({
        service: coreServices.logger,
        deps: {},
        factory: () => logger,
      }),
      mockServices.rootConfig.factory({
        data: {
          app: { baseUrl: 'http://localhost:3000' },
          backend: { baseUrl: 'http://localhost:7007' },
          kerberos: { ...(realm && { realm }), realms: [...realms] },
          catalog: { ...(catalogRules && { rules: catalogRules }) },
          directory: {
            trustedLocations: [...trustedLocations],
          },
          auth: {
            providers: { kerberos: resolvers ? { signIn: { resolvers } } : {} },
          },
        },
      }),
    ],
  });
  return {
    refresh: (principal, headers = { 'X-Requested-With': 'XMLHttpRequest' }) =>
      fetch(
        `http://localhost:${backend.server.port()}/api/auth/kerberos/refresh`,
        {
          headers: {
            ...(principal && { Authorization: `Negotiate ${principal}` }),
            ...headers,
          },
        },
      ),
    logged: () =>
      [logger.error, logger.warn, logger.info, logger.debug]
        .flatMap(log => log.mock.calls.map(([message]) => String(message)))
        .join('\n'),
    stop: () => backend.stop(),
  };
}

function accept(
  header: string | readonly string[] | undefined,
): KerberosResult {
  const [value] = typeof header === 'string' ? [header] : (header ?? []);
  const principal = value?.replace('Negotiate ', '');
  switch (principal) {
    case undefined:
      return {
        outcome: 'refused',
        reason: 'no_credentials',
        message: 'No ticket.',
      };
    case 'skewed':
      return {
        outcome: 'refused',
        reason: 'clock_skew',
        message: 'Wrong time.',
      };
    case 'no-keytab':
      return { outcome: 'unavailable', message: 'Unavailable.' };
    default:
      return { outcome: 'accepted', principal, replyToken: 'cmVwbHk=' };
  }
}

/** A fake `directory` plugin that accepts only services. */
function directoryWith(accounts: TestPortalOptions['accounts']) {
  return createBackendPlugin({
    pluginId: 'directory',
    register(env) {
      env.registerInit({
        deps: {
          httpAuth: coreServices.httpAuth,
          httpRouter: coreServices.httpRouter,
        },
        async init({ httpAuth, httpRouter }) {
          const router = Router();
          router.get('/v1/accounts/:principal/', async (req, res) => {
            await httpAuth.credentials(req, { allow: ['service'] });
            if (!accounts) {
              res
                .status(503)
                .json({ message: 'Unavailable.', request_id: 'r1' });
              return;
            }
            const account = accounts[req.params.principal];
            if (!account) {
              const message = 'Account not found';
              res.status(404).json({ message, request_id: 'r1' });
              return;
            }
            const { groups: _, ...result } = account;
            res.json({ result: { locked: false, expired: false, ...result } });
          });
          router.get('/v1/users/:username/', (_req, res) => {
            res.json({ result: { locked: false } });
          });
          router.get('/v1/users/:username/memberships/', async (req, res) => {
            await httpAuth.credentials(req, { allow: ['service'] });
            const account = Object.values(accounts ?? {}).find(
              ({ username }) => username === req.params.username,
            );
            if (!account?.groups) {
              const message = 'User not found';
              res.status(404).json({ message, request_id: 'r1' });
              return;
            }
            const { groups } = account;
            if ('unavailable' in groups) {
              res
                .status(503)
                .json({ message: 'Unavailable.', request_id: 'r1' });
              return;
            }
            const all = Object.entries(groups).map(([groupname, path]) => ({
              groupname,
              path,
            }));
            const size = Number(req.query.page_size);
            const page = Number(req.query.page_number);
            res.json({
              result: all.slice((page - 1) * size, page * size),
              page,
              page_size: size,
              total_results: all.length,
            });
          });
          httpRouter.use(router);
        },
      });
    },
  });
}
