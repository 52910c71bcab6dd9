import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FreeIpaAuthority } from '../FreeIpaAuthority';
import type { FreeIpaConfig } from '../FreeIpaConfig';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { TestClock } from './TestClock';

/** A {@link FreeIpaAuthority} that logs in with a password. */
export interface StartedAuthority {
  readonly authority: FreeIpaAuthority;
  readonly logger: RecordingLogger;
  /** Clock for all deadlines except that of a connection. */
  readonly clock: TestClock;
  /** Changes the password in the password file. */
  setPassword(password: string): Promise<void>;
  /** Removes the files. */
  remove(): Promise<void>;
}

/** Creates an authority with a password file. */
export async function startAuthority(
  options: Partial<FreeIpaConfig> & {
    readonly servers: readonly string[];
    readonly caFile: string;
    readonly password: string;
  },
): Promise<StartedAuthority> {
  const { password, ...config } = options;
  const folder = await mkdtemp(join(tmpdir(), 'freeipa-authority-'));
  const passwordFile = join(folder, 'password');
  const setPassword = (text: string) =>
    writeFile(passwordFile, `${text}\n`, { mode: 0o600 });
  await setPassword(password);
  const logger = new RecordingLogger();
  const clock = new TestClock();
  const authority = new FreeIpaAuthority({
    config: {
      cacn: 'ipa',
      login: {
        kind: 'password',
        account: 'portal',
        file: passwordFile,
        fileKey: 'passwordFile',
      },
      requestTimeoutMs: 10_000,
      lostResponseSearchMs: 1000,
      ...config,
    },
    logger,
    clock,
  });
  const remove = () => rm(folder, { recursive: true });
  return { authority, logger, clock, setPassword, remove };
}
