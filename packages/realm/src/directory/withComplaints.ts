import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RealmLayout } from '../RealmLayout';

/**
 * Does something with the directory server; when that fails, adds the first
 * things that the server's own log calls a warning or worse: its programs only
 * say that they failed.
 */
export async function withComplaints(
  what: string,
  { logs }: RealmLayout,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const log = await readFile(join(logs, 'errors'), 'utf8').catch(() => '');
    const complaints = log
      .split('\n')
      .filter(line => /- (WARN|ERR|CRIT|EMERG) -/.test(line))
      .slice(0, 5);
    const said = complaints.join('; ') || String(error);
    throw new Error(`${what} failed: ${said}`, { cause: error });
  }
}
