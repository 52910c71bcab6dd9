import { createHmac } from 'node:crypto';
import type { Group, User } from '../directory/records';
import type { ServedRecord } from '../replica/tables/RowBlock';
import type { SecretKey } from '../secretKeys';

/** Bytes of a digest: the chance of a missed change is 1 in 2^64. */
const DIGEST_BYTES = 8;

/** The values of an entry, including search-only values. */
export type RecordedValues = Pick<
  ServedRecord<User> | ServedRecord<Group>,
  'record' | 'searchOnly'
>;

/**
 * HMACs of fields of an entry, by name. Equal values of different entries or
 * fields have different HMACs, so that the database does not reveal which
 * entries share a value.
 */
export function digestsOf(
  values: RecordedValues,
  options: {
    readonly entryId: number;
    readonly fields: readonly string[];
    readonly key: SecretKey;
  },
): Record<string, string> {
  const { entryId, fields, key } = options;
  const digests: Record<string, string> = {};
  for (const field of fields) {
    digests[field] = createHmac('sha256', key.key)
      .update(JSON.stringify([entryId, field, ...valuesOf(values, field)]))
      .digest()
      .toString('base64url', 0, DIGEST_BYTES);
  }
  return digests;
}

/** The value of a field, and its search-only values. */
export function valuesOf(
  { record, searchOnly }: RecordedValues,
  field: string,
): readonly [unknown, unknown] {
  return [
    (record as Readonly<Record<string, unknown>>)[field],
    (searchOnly as Readonly<Record<string, unknown>> | undefined)?.[field],
  ];
}
