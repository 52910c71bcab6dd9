import { type Config, readDurationFromConfig } from '@backstage/config';
import { assertError, InputError } from '@backstage/errors';
import { type HumanDuration, durationToMilliseconds } from '@backstage/types';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';

/**
 * Reads a duration greater than 0, in milliseconds.
 *
 * @param options - `prefix`: path of `config`, for error messages; `fallback`:
 *   value when the key is not set.
 * @throws InputError that names the key.
 * @public
 */
export function readMilliseconds(
  config: Config | undefined,
  key: string,
  options: { readonly prefix: string; readonly fallback: HumanDuration },
): number {
  try {
    const milliseconds = durationToMilliseconds(
      config?.has(key)
        ? readDurationFromConfig(config, { key })
        : options.fallback,
    );
    if (!(milliseconds > 0)) {
      throw new InputError('must be greater than 0');
    }
    return milliseconds;
  } catch (error) {
    assertError(error);
    throw new InputError(`${options.prefix}.${key}: ${error.message}`);
  }
}

/**
 * Reads a whole number of at least 1.
 *
 * @param options - `prefix`: path of `config`, for error messages; `fallback`:
 *   value when the key is not set.
 * @throws InputError that names the key.
 * @public
 */
export function readCount(
  config: Config | undefined,
  key: string,
  options: { readonly prefix: string; readonly fallback: number },
): number {
  const count = config?.getOptionalNumber(key) ?? options.fallback;
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new InputError(
      `${options.prefix}.${key} must be a whole number, at least 1`,
    );
  }
  return count;
}

/**
 * Reads an absolute path; `undefined` when the key is not set.
 *
 * @param prefix - Path of `config`, for error messages.
 * @throws InputError that names the key.
 * @public
 */
export function readAbsolutePath(
  config: Config,
  key: string,
  prefix: string,
): string | undefined {
  const path = config.getOptionalString(key);
  if (path !== undefined && !isAbsolute(path)) {
    throw new InputError(
      `${prefix}.${key} must be an absolute path, not "${path}"`,
    );
  }
  return path;
}

/**
 * Requires an https URL, or an http URL on localhost: tickets, tokens and
 * personal data must not be sent unencrypted.
 *
 * @param key - Configuration key of the URL, for the error message.
 * @throws InputError that names the key.
 * @public
 */
export function requireSecureTransport(url: string, key: string): void {
  const { protocol, hostname } = new URL(url);
  const isSecure =
    protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  if (!isSecure) {
    throw new InputError(
      `${key} must be an https:// URL, or an http:// URL on localhost`,
    );
  }
}

/**
 * Returns whether the host name of a URL is a loopback address.
 *
 * @public
 */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return (
    host === 'localhost' ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}
