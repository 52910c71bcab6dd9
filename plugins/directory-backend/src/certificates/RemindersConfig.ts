import { readDurationFromConfig, type Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { durationToMilliseconds } from '@backstage/types';

const KEY = 'directory.certificates.reminders';

/** `directory.certificates.reminders`. */
export interface RemindersConfig {
  /** Days before the end at which a message goes out, the fewest first. */
  readonly daysBefore: readonly number[];
  /** How often ends are looked for. */
  readonly everyMs: number;
}

/**
 * Reads the block, with its defaults where there is none.
 *
 * @throws InputError that names the key that is wrong.
 */
export function readRemindersConfig(certificates: Config): RemindersConfig {
  const config = certificates.getOptionalConfig('reminders');
  const daysBefore = config?.getOptional('daysBefore') ?? [30, 14, 7, 1];
  if (!Array.isArray(daysBefore) || !daysBefore.every(isNumberOfDays)) {
    throw new InputError(
      `${KEY}.daysBefore must be a list of whole numbers above 0`,
    );
  }
  return Object.freeze({
    daysBefore: [...new Set(daysBefore)].sort((a, b) => a - b),
    everyMs: config?.has('every')
      ? durationToMilliseconds(readDurationFromConfig(config, { key: 'every' }))
      : 6 * 60 * 60 * 1000,
  });
}

function isNumberOfDays(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
