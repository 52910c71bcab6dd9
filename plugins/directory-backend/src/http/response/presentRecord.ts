import type { FieldDefinition, FieldSyntax } from '../../directory/schema';

/**
 * A record as the API shows it, with the given keys in their order. A missing
 * value is null; `uri` is the resource's own.
 */
export function presentRecord(
  record: Readonly<Record<string, unknown>>,
  options: {
    readonly keys: readonly string[];
    readonly fields: Readonly<Record<string, FieldDefinition>>;
    readonly uri: string;
    /** Values of keys that are not shown as the directory has them. */
    readonly besides?: Readonly<Record<string, unknown>>;
  },
): Record<string, unknown> {
  const { keys, fields } = options;
  const besides: Readonly<Record<string, unknown>> = {
    ...options.besides,
    uri: options.uri,
  };
  const shown: Record<string, unknown> = {};
  for (const key of keys) {
    shown[key] = Object.hasOwn(besides, key)
      ? besides[key]
      : presentValue(record[key], fields[key].syntax);
  }
  return shown;
}

function presentValue(value: unknown, syntax: FieldSyntax): unknown {
  if (value === undefined) {
    return null;
  }
  switch (syntax) {
    case 'timestamp':
      // Without a zone, to the second: `2020-04-23T10:16:35`.
      return (value as Date).toISOString().slice(0, 19);
    case 'certificates':
      return (value as readonly Buffer[]).map(der => der.toString('base64'));
    default:
      return value;
  }
}
