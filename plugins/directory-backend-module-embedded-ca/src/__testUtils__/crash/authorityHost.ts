import type { LoggerService } from '@backstage/backend-plugin-api';
import type { JsonObject } from '@backstage/types';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import createKnex, { type Knex } from 'knex';
import { createEmbeddedCa } from '../../createEmbeddedCa';
import { migrateDatabase } from '../../module';
import { CRL_URL, embeddedCaConfig } from '../TestCa';

/** What the parent gives the child to begin with. */
export interface HostOptions {
  readonly database: Knex.Config;
  /** The `embedded` block of the configuration. */
  readonly embedded: JsonObject & { readonly keyFile: string };
}

/** What the parent asks. */
export type HostRequest =
  | { readonly kind: 'start'; readonly options: HostOptions }
  | {
      readonly kind: 'sign';
      readonly id: number;
      readonly request: SigningRequest;
    };

/** What the child says. */
export type HostMessage =
  /** Its code is loaded, and nothing has been done yet. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'started'; readonly authorityId: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'issued';
      readonly id: number;
      readonly certificate: Buffer;
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

function tell(message: HostMessage): void {
  process.send?.(message);
}

const silent: LoggerService = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => silent,
};

/** The authority alone in a process, as a portal would start it. */
async function start(options: HostOptions): Promise<void> {
  const database = createKnex({
    ...options.database,
    // It warns of locks that others hold, which is what is tried here.
    log: { warn() {}, error() {} },
  });
  await migrateDatabase(database);
  const { authority, keeper } = await createEmbeddedCa({
    config: embeddedCaConfig(options.embedded),
    database,
    crlUrl: CRL_URL,
    logger: silent,
  });
  process.on('message', async (message: HostRequest) => {
    if (message.kind !== 'sign') {
      return;
    }
    const { id, request } = message;
    try {
      const { certificate } = await authority.sign(request);
      tell({ kind: 'issued', id, certificate });
    } catch (error) {
      tell({ kind: 'failed', id, reason: String(error) });
    }
  });
  tell({ kind: 'started', authorityId: keeper.current.id });
}

process.once('message', (message: HostRequest) => {
  if (message.kind === 'start') {
    start(message.options).catch(error =>
      tell({ kind: 'refused', reason: String(error) }),
    );
  }
});
// A parent that is killed itself leaves nobody behind.
process.once('disconnect', () => process.exit());
tell({ kind: 'loaded' });
