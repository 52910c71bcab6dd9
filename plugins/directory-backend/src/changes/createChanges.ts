import type {
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { createHash } from 'node:crypto';
import type {
  DirectorySchema,
  PrivacyPolicy,
  PrivateDirectory,
  Replica,
  UserField,
} from '@directory-gateway/directory-core';
import { ChangeLog } from './ChangeLog';
import { ChangeReader } from './ChangeReader';
import type { ChangesConfig } from './ChangesConfig';
import { ChangeWriter } from './ChangeWriter';
import type { Served } from './KnownEntries';

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
  readonly replica: Pick<Replica, 'observe' | 'tables' | 'compare'>;
  readonly schema: DirectorySchema;
}): Changes {
  const { baseDn, config, database, privacy, replica, schema } = options;
  const hidden = [[...privacy.hidden], [...(privacy.ownOnly ?? [])]];
  const definition = createHash('sha256')
    .update(JSON.stringify([baseDn, schema, ...hidden]))
    .digest('hex');
  const log = new ChangeLog({ database, definition });
  const { compare } = replica;
  const writer = new ChangeWriter({
    log,
    tables: replica.tables,
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
