import type { Realm } from '@directory-gateway/realm';
import { once } from 'node:events';
import { ClosedLoop, rate } from './ClosedLoop';
import type { Credentials } from './credentials/credentials';
import { spawnOnPortalCpu, type Portal } from './portal/Portal';
import type { ScenarioRequest } from './scenarios/Scenario';
import { BENCHMARKS, settings } from './settings';

/** The constant response with which a row is compared. */
interface Reference {
  readonly credentials: Credentials;
  /** Number of connections of the row. */
  readonly connections: number;
  /** Length of the response. */
  readonly bytes: number;
  /** Body of a POST request, of the same size as those of the row. */
  readonly form?: string;
  readonly signal: AbortSignal;
}

/** Requests per second of each reference. */
export interface ReferenceRates {
  /** A route of the same Backstage process. */
  readonly route: number;
  /** A plain `node:http` server with the same Node.js options. */
  readonly limit: number;
}

/** Number of tokens that are prepared for each second of a reference. */
const MAX_RATE = 8000;

/**
 * Measures servers that return a constant response of a row's length, after a
 * SPNEGO acceptance in mode `negotiate`.
 */
export class Limits {
  readonly #servers: { readonly route: ClosedLoop; readonly limit: ClosedLoop };
  readonly #stop: () => void;

  private constructor(origins: ReferenceOrigins, stop: () => void) {
    const connect = (origin: string) =>
      new ClosedLoop({
        origin,
        basePath: '/api/benchmark',
        connections: settings.connections,
      });
    this.#servers = {
      route: connect(origins.route),
      limit: connect(origins.limit),
    };
    this.#stop = stop;
  }

  /** Starts the limit server in addition to a portal. */
  static async start(realm: Realm, portal: Portal): Promise<Limits> {
    const file = `${BENCHMARKS}/src/portal/limitServer.cjs`;
    const child = spawnOnPortalCpu([file], { realm, output: 'inherit' });
    const exit = once(child, 'exit').then(([code]) => {
      throw new Error(`The limit server exited with ${code}`);
    });
    exit.catch(() => {});
    const [{ port }] = await Promise.race([once(child, 'message'), exit]);
    const origins = { route: portal.origin, limit: `http://127.0.0.1:${port}` };
    return new Limits(origins, () => child.kill());
  }

  /** Measures the route, then the limit. */
  async measure(reference: Reference): Promise<ReferenceRates> {
    return {
      route: await this.#rate(this.#servers.route, reference),
      limit: await this.#rate(this.#servers.limit, reference),
    };
  }

  async #rate(loop: ClosedLoop, reference: Reference): Promise<number> {
    const { credentials, connections, signal } = reference;
    const request = referenceRequest(reference);
    await credentials.prepare((MAX_RATE * settings.limitMs) / 1000);
    const sample = await loop.run({
      credentials,
      connections,
      signal,
      next: () => request,
      ms: settings.limitMs,
    });
    return rate(sample);
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#servers).map(loop => loop.close()));
    this.#stop();
  }
}

type ReferenceOrigins = Readonly<Record<'route' | 'limit', string>>;

/** Returns the request to both servers. */
export function referenceRequest({
  credentials,
  bytes,
  form,
}: Pick<Reference, 'credentials' | 'bytes' | 'form'>): ScenarioRequest {
  const path = credentials.mode === 'negotiate' ? '/accept' : '/constant';
  return {
    path: `${path}?size=${Math.round(bytes)}`,
    form,
    expected: ['{"result":"'],
  };
}
