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
  },
): Record<string, unknown> {
  const { keys, fields, uri } = options;
  return Object.fromEntries(
    keys.map(key => [
      key,
      key === 'uri' ? uri : presentValue(record[key], fields[key].syntax),
    ]),
  );
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
