import type { Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PORTAL_CPU } from './Portal';

const run = promisify(execFile);
const PROGRAM = require.resolve('./createTokens.cjs');
/** The tokens of a round have a few megabytes. */
const MAX_OUTPUT = 2 ** 28;

/**
 * Creates a base64 SPNEGO token for each user name, in the same order.
 *
 * A token is for one request: a server with a replay cache refuses a second use
 * (RFC 4120 §3.2.3). It expires after five minutes, and creating it takes
 * longer than a request. For this reason, the tokens of a round are created
 * right before it, while nothing is measured and the portal's CPU is idle.
 */
export async function createTokens(
  realm: Realm,
  usernames: readonly string[],
): Promise<readonly string[]> {
  const caches = await Promise.all(
    usernames.map(username => realm.ticket(username)),
  );
  const { stdout } = await run(
    'taskset',
    ['--cpu-list', `${PORTAL_CPU}`, process.execPath, PROGRAM, ...caches],
    {
      env: { ...process.env, KRB5_CONFIG: realm.krb5Config },
      maxBuffer: MAX_OUTPUT,
    },
  );
  return stdout.trim().split('\n');
}
