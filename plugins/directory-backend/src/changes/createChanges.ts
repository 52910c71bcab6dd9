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
import type { DirectorySchema, FieldDefinition } from '../directory/schema';
import type { Replica } from '../replica/Replica';
import type { ConfirmedSync } from '../replica/sync/DirectorySync';
import { ChangeFeed } from './ChangeFeed';
import { ChangeHistory } from './ChangeHistory';
import { ChangeLog } from './ChangeLog';
import type { ChangesConfig } from './ChangesConfig';
import { ChangeStore } from './ChangeStore';
import { ChangeWriter } from './ChangeWriter';
import type { KnownEntriesOptions } from './KnownEntries';
import type { ComparePositions, Position } from './Position';

/** Services that read the change log. */
export interface Changes {
  readonly feed: Pick<ChangeFeed, 'read'>;
  /** `undefined` without `directory.changes.history`. */
  readonly history: ChangeHistory | undefined;
}

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
  const { baseDn, config, database, lifecycle, privacy, replica, schema } =
    options;
  const { hidden, ownOnly } = privacy;
  const log = new ChangeLog(database);
  const writer = new ChangeWriter({
    ...options,
    store: new ChangeStore({
      database,
      definition: hashOf([baseDn, schema, [...hidden], [...(ownOnly ?? [])]]),
    }),
    positionOf,
    compare: comparePositions,
    tables: replica.tables,
    fields: {
      user: mappedFields(schema.users),
      group: mappedFields(schema.groups),
    },
    isVisible: visibleToAll(privacy),
    retentionMs: config.retentionMs,
  });
  replica.observe(writer);
  lifecycle.addShutdownHook(() => writer.stop());
  return {
    feed: new ChangeFeed({
      ...options,
      log,
      position: () => writer.position,
      compare: comparePositions,
    }),
    history: config.history
      ? new ChangeHistory({ ...options, log })
      : undefined,
  };
}

/** The last USN; on servers without USNs, the time of the sync. */
export function positionOf({
  server,
  usn,
  requestedAt,
}: ConfirmedSync): Position {
  const value = usn ?? Math.round(performance.timeOrigin + requestedAt);
  return { server, value: String(value) };
}

/** Compares positions by {@link positionOf}. */
export const comparePositions: ComparePositions = (a, b) => {
  if (a.server !== b.server) {
    return 'other';
  }
  const difference = Number(b.value) - Number(a.value);
  if (difference === 0) {
    return 'same';
  }
  return difference > 0 ? 'later' : 'earlier';
};

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function mappedFields(
  fields: Readonly<Record<string, FieldDefinition>>,
): readonly string[] {
  return Object.keys(fields).filter(
    name => fields[name].attribute !== undefined,
  );
}

/** Whether callers without special rights may see a field of a record. */
function visibleToAll({
  hidden,
  ownOnly,
}: PrivacyPolicy): KnownEntriesOptions['isVisible'] {
  const hiddenFields: ReadonlySet<string> = hidden;
  const ownFields: ReadonlySet<string> | undefined = ownOnly;
  return (field, record, kind) =>
    kind === 'group' ||
    (!ownFields?.has(field) &&
      !(
        hiddenFields.has(field) &&
        'is_private' in record &&
        record.is_private === true
      ));
}
