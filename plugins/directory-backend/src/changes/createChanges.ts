import type {
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { createHash } from 'node:crypto';
import type {
  PrivacyPolicy,
  PrivateDirectory,
} from '../directory/PrivateDirectory';
import type { DirectorySchema, UserField } from '../directory/schema';
import type { Replica } from '../replica/Replica';
import type { ConfirmedSync } from '../replica/sync/DirectorySync';
import { ChangeLog, type ComparePositions, type Position } from './ChangeLog';
import { ChangeReader } from './ChangeReader';
import type { ChangesConfig } from './ChangesConfig';
import { ChangeWriter } from './ChangeWriter';
import type { Served } from './compareMemberships';

/** Services that read the change log. */
export interface Changes {
  readonly feed: Pick<ChangeReader, 'read'>;
  /** `undefined` without `directory.changes.history`. */
  readonly history: Pick<ChangeReader, 'historyOf' | 'joinTimesOf'> | undefined;
}

/** Fields whose changes have a kind other than `*_changed`. */
const OTHER_CHANGES: ReadonlySet<string> = new Set([
  'username',
  'groupname',
  'locked',
]);

/**
 * Writes the replica's changes to the change log until shutdown. Call it before
 * the replica follows the directory.
 */
export function createChanges(options: {
  readonly config: ChangesConfig;
  readonly database: Database;
  readonly directory: PrivateDirectory;
  readonly baseDn: string;
  readonly lifecycle: LifecycleService;
  readonly logger: LoggerService;
  readonly privacy: PrivacyPolicy;
  readonly replica: Pick<Replica, 'observe' | 'tables'>;
  readonly schema: DirectorySchema;
}): Changes {
  const { baseDn, config, database, privacy, replica, schema } = options;
  const hidden = [[...privacy.hidden], [...(privacy.ownOnly ?? [])]];
  const definition = createHash('sha256')
    .update(JSON.stringify([baseDn, schema, ...hidden]))
    .digest('hex');
  const log = new ChangeLog({ database, definition });
  const compare = comparePositions;
  const writer = new ChangeWriter({
    log,
    tables: replica.tables,
    positionOf,
    compare,
    publicValues: publicValuesFor(privacy),
    retentionMs: config.retentionMs,
    logger: options.logger,
  });
  replica.observe(writer);
  options.lifecycle.addShutdownHook(() => writer.stop());
  const reader = new ChangeReader({
    log,
    directory: options.directory,
    position: () => writer.position,
    compare,
  });
  return { feed: reader, history: config.history ? reader : undefined };
}

/** Returns a function for the values that every caller may read. */
export function publicValuesFor({
  hidden,
  ownOnly = new Set(),
}: PrivacyPolicy): (served: Served) => unknown {
  const isPublic = (field: string, isPrivate: unknown) =>
    !OTHER_CHANGES.has(field) &&
    !ownOnly.has(field as UserField) &&
    !(isPrivate && hidden.has(field as UserField));
  return ({ record, searchOnly = {} }) =>
    Object.entries(record)
      .filter(([field]) =>
        isPublic(field, 'is_private' in record && record.is_private),
      )
      .map(([field, value]) => [field, value, searchOnly[field as never]]);
}

/** The last USN; on servers without USNs, the time of the sync. */
export function positionOf(sync: ConfirmedSync): Position {
  const { server, usn, requestedAt } = sync;
  const value = usn ?? Math.round(performance.timeOrigin + requestedAt);
  return { server, value: String(value) };
}

/** Compares positions by {@link positionOf}. */
export function comparePositions(
  a: Position,
  b: Position,
): ReturnType<ComparePositions> {
  if (a.server !== b.server) {
    return 'other';
  }
  const difference = Number(b.value) - Number(a.value);
  if (difference === 0) {
    return 'same';
  }
  return difference > 0 ? 'later' : 'earlier';
}
