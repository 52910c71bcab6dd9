import type { LoggerService } from '@backstage/backend-plugin-api';
import { SessionKeys } from './SessionKeys';
import { Sessions, type SessionPlace } from './Sessions';
import type { SessionsConfig } from './SessionsConfig';
import { SessionTokens } from './SessionTokens';

/**
 * Sessions as they are configured.
 *
 * @throws InputError that names the secret that is no good.
 */
export async function openSessions(options: {
  readonly config: SessionsConfig;
  /** The plugin's address: no other portal's session is good here. */
  readonly audience: string;
  /** The more particular first. */
  readonly places: readonly SessionPlace[];
  readonly logger: LoggerService;
}): Promise<Sessions> {
  const { audience, places, logger } = options;
  const { secrets, maxAgeMs } = options.config;
  if (!secrets) {
    logger.info(
      "Sessions are sealed with a key of this process's own. Where there are several processes, set directory.sessions.keys, so that each knows the others' sessions.",
    );
  }
  const keys = secrets ? await SessionKeys.load(secrets) : SessionKeys.random();
  const tokens = new SessionTokens({ keys, audience, maxAgeMs });
  return new Sessions({ tokens, maxAgeMs, places });
}
