import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FreeIpaAuthority } from '../FreeIpaAuthority';
import type { FreeIpaConfig } from '../FreeIpaConfig';
import { MemoryLogger } from './MemoryLogger';
import { TestClock } from './TestClock';

/** An authority that logs in with a password, and what it has logged. */
export interface StartedAuthority {
  readonly authority: FreeIpaAuthority;
  readonly logger: MemoryLogger;
  /** Its clock, for all deadlines but that of a connection. */
  readonly clock: TestClock;
  /** Changes the password in its file. */
  setPassword(password: string): Promise<void>;
  /** Removes its files. */
  remove(): Promise<void>;
}

/** Makes an authority as a site does that has chosen a password. */
export async function startAuthority(
  options: Partial<FreeIpaConfig> & {
    readonly servers: readonly string[];
    readonly password: string;
  },
): Promise<StartedAuthority> {
  const { password, ...config } = options;
  const folder = await mkdtemp(join(tmpdir(), 'freeipa-authority-'));
  const passwordFile = join(folder, 'password');
  const setPassword = (text: string) =>
    writeFile(passwordFile, `${text}\n`, { mode: 0o600 });
  await setPassword(password);
  const logger = new MemoryLogger();
  const clock = new TestClock();
  const authority = FreeIpaAuthority.create({
    config: {
      cacn: 'ipa',
      login: { kind: 'password', username: 'portal', passwordFile },
      connectTimeoutMs: 60_000,
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
