import type {
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type { EventsService } from '@backstage/plugin-events-node';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import type {
  PrivacyPolicy,
  PrivateDirectory,
} from '../directory/PrivateDirectory';
import type { DirectorySchema, FieldDefinition } from '../directory/schema';
import type { Replica } from '../replica/Replica';
import { SecretKeys } from '../secretKeys';
import { ChangeCursors } from './ChangeCursors';
import { ChangeFeed } from './ChangeFeed';
import { ChangeHistory } from './ChangeHistory';
import { ChangeLog } from './ChangeLog';
import type { ChangesConfig } from './ChangesConfig';
import { ChangeWriter } from './ChangeWriter';
import type { RecordedEntriesOptions } from './RecordedEntries';

/**
 * Opens the change log and writes the replica's changes to it until shutdown.
 * Call it before the replica follows the directory.
 *
 * @throws InputError that names an unusable key.
 */
export async function createChanges(options: {
  readonly config: ChangesConfig;
  readonly database: Database;
  readonly directory: PrivateDirectory;
  readonly events: EventsService;
  readonly lifecycle: LifecycleService;
  readonly logger: LoggerService;
  readonly privacy: PrivacyPolicy;
  readonly replica: Pick<Replica, 'observe' | 'tables'>;
  readonly schema: DirectorySchema;
}): Promise<{
  readonly feed: ChangeFeed;
  /** `undefined` without `directory.changes.history`. */
  readonly history: ChangeHistory | undefined;
}> {
  const { config, database, lifecycle, privacy, replica, schema } = options;
  const { secrets, retentionMs } = config;
  const digestKeys = await SecretKeys.load(secrets, 'directory change digest');
  const cursorKeys = await SecretKeys.load(secrets, 'directory change cursor');
  const log = await ChangeLog.open(database);
  const writer = new ChangeWriter({
    ...options,
    log,
    tables: replica.tables,
    keys: digestKeys.all,
    fields: {
      user: mappedFields(schema.users),
      group: mappedFields(schema.groups),
    },
    isVisible: visibleToAll(privacy),
    retentionMs,
  });
  replica.observe(writer);
  lifecycle.addShutdownHook(() => writer.stop());
  return {
    feed: new ChangeFeed({
      ...options,
      log,
      isLogging: () => writer.isLogging,
      cursors: new ChangeCursors(cursorKeys),
    }),
    history: config.history
      ? new ChangeHistory({ ...options, log })
      : undefined,
  };
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
}: PrivacyPolicy): RecordedEntriesOptions['isVisible'] {
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
