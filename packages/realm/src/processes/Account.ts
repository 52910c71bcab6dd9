import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/** The ordinary user that the servers run as. */
export interface Account {
  name: string;
  group: string;
  uid: number;
  gid: number;
  /** Whether a process must change to it, because the caller is root. */
  drop: boolean;
}

/**
 * As an ordinary user: oneself. As root: `dirsrv`, the account of Debian's
 * 389-ds-base, or `nobody` where that does not exist.
 *
 * @throws Error when root has nobody to become
 */
export async function findAccount(): Promise<Account> {
  const { username, uid } = userInfo();
  const candidates = uid === 0 ? ['dirsrv', 'nobody'] : [username];
  for (const name of candidates) {
    try {
      return { ...(await lookUp(name)), drop: uid === 0 };
    } catch {
      continue; // `id` knows no such account: try the next
    }
  }
  throw new Error(
    `No account to run the servers as (tried ${candidates.join(', ')})`,
  );
}

async function lookUp(name: string): Promise<Omit<Account, 'drop'>> {
  const [uid, gid, group] = await Promise.all(
    ['-u', '-g', '-gn'].map(async what => {
      const { stdout } = await execFileAsync('id', [what, name]);
      return stdout.trim();
    }),
  );
  return { name, group, uid: Number(uid), gid: Number(gid) };
}
