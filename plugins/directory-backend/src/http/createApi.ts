import type { HttpRouterService } from '@backstage/backend-plugin-api';
import type { ReadinessChecksService } from '@directory-gateway/backstage-plugin-directory-node';
import type { ReplicaStatus } from '@directory-gateway/directory-core';
import type { Dialect } from './api/Dialect';
import { createRouter, type RouterOptions } from './createRouter';
import type { PublicDocuments } from './documents/PublicDocuments';
import { publishDocuments } from './documents/publishDocuments';
import { publishHealth } from './documents/publishHealth';
import {
  createOperations,
  type OperationsOptions,
} from './resources/createOperations';

/**
 * Maximum time for which the first sync delays the portal's readiness, so that
 * an unavailable directory does not block a rolling update.
 */
const MAX_READINESS_DELAY_MS = 60_000;

/**
 * Mounts the API: public documents, health checks and the operations of every
 * dialect.
 */
export function createApi(
  options: Omit<RouterOptions, 'mounts' | 'ownOrigin'> &
    OperationsOptions & {
      readonly publicDocuments: PublicDocuments;
      /** External URL of the plugin. */
      readonly baseUrl: string;
      /** The contract dialect first. */
      readonly dialects: readonly [Dialect, ...Dialect[]];
      readonly httpRouter: HttpRouterService;
      readonly readinessChecks: ReadinessChecksService;
      readonly replica: { readonly status: ReplicaStatus };
    },
): void {
  const { dialects, httpRouter, publicDocuments, replica } = options;
  options.readinessChecks.add({
    name: 'directory replica',
    maxWaitMs: MAX_READINESS_DELAY_MS,
    isReady: () => replica.status.kind !== 'starting',
  });
  for (const dialect of dialects) {
    publishDocuments(publicDocuments, dialect);
    publishHealth(publicDocuments, { ...dialect, replica });
  }
  const mount = (dialect: Dialect) => ({
    dialect,
    operations: createOperations({ ...options, dialect }),
  });
  const [own, ...others] = dialects;
  // Backstage's own authentication accepts portal tokens only. It is disabled
  // for paths that the router authenticates or publishes, and stays enabled for
  // other paths of this plugin, such as those of its scheduler.
  for (const path of [
    ...dialects.map(({ root }) => root || '/v:version'),
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
      ...options,
      mounts: [mount(own), ...others.map(mount)],
      ownOrigin: new URL(options.baseUrl).origin,
    }),
  );
}
