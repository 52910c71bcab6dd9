import type { LoggerService } from '@backstage/backend-plugin-api';
import type { JsonObject } from '@backstage/types';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import createKnex, { type Knex } from 'knex';
import { createEmbeddedCa } from '../../createEmbeddedCa';
import { migrateDatabase } from '../../module';
import { PUBLIC_URL, readConfig } from '../TestCa';

/** Options of the child process. */
export interface HostOptions {
  readonly database: Knex.Config;
  /** The `embedded` block of the configuration. */
  readonly embedded: JsonObject;
}

/** Messages of the parent. */
export type HostRequest =
  | { readonly kind: 'start'; readonly options: HostOptions }
  | {
      readonly kind: 'sign';
      readonly id: number;
      readonly request: SigningRequest;
    };

/** Messages of the child. */
export type HostMessage =
  /** The code is loaded. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'started' }
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'issued';
      readonly id: number;
      readonly certificate: Buffer;
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

function send(message: HostMessage): void {
  process.send?.(message);
}

const silent: LoggerService = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => silent,
};

/** Starts the embedded CA as the portal does. */
async function start(options: HostOptions): Promise<void> {
  const database = createKnex({
    ...options.database,
    // Knex warns about locks of other processes; this test causes them.
    log: { warn() {}, error() {} },
  });
  await migrateDatabase(database);
  const { authority, maintain } = await createEmbeddedCa({
    config: readConfig(options.embedded),
    database,
    publicUrl: PUBLIC_URL,
    logger: silent,
  });
  await maintain();
  process.on('message', async (message: HostRequest) => {
    if (message.kind !== 'sign') {
      return;
    }
    const { id, request } = message;
    try {
      const { certificate } = await authority.sign(request);
      send({ kind: 'issued', id, certificate: certificate.der });
    } catch (error) {
      send({ kind: 'failed', id, reason: String(error) });
    }
  });
  send({ kind: 'started' });
}

process.once('message', (message: HostRequest) => {
  if (message.kind === 'start') {
    start(message.options).catch(error =>
      send({ kind: 'refused', reason: String(error) }),
    );
  }
});
// Exits when the parent exits.
process.once('disconnect', () => process.exit());
send({ kind: 'loaded' });
