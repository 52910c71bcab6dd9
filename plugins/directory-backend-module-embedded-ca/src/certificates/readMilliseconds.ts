import { readDurationFromConfig, type Config } from '@backstage/config';
import { assertError, InputError } from '@backstage/errors';
import { durationToMilliseconds, type HumanDuration } from '@backstage/types';

/**
 * Reads a duration, which is longer than nothing.
 *
 * @param options - `prefix`: where the config is, for messages; `fallback`: what
 *   it is when the key is not there
 * @returns milliseconds
 * @throws InputError that names the key when it is wrong.
 */
export function readMilliseconds(
  config: Config,
  key: string,
  options: { readonly prefix: string; readonly fallback: HumanDuration },
): number {
  const { prefix, fallback } = options;
  try {
    const milliseconds = durationToMilliseconds(
      config.has(key) ? readDurationFromConfig(config, { key }) : fallback,
    );
    if (!(milliseconds > 0)) {
      throw new InputError('it must be longer than nothing');
    }
    return milliseconds;
  } catch (error) {
    assertError(error);
    throw new InputError(`${prefix}.${key}: ${error.message}`);
  }
}
