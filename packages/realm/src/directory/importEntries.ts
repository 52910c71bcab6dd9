import { createWriteStream } from 'node:fs';
import { chown, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatLdif } from '../ldif/ldif';
import { type LdifEntry, normalizeDn } from '../ldif/LdifEntry';
import type { Account, ProcessOwner } from '../processes/ProcessOwner';
import type { RealmLayout } from '../RealmLayout';

interface ImportOptions {
  owner: ProcessOwner;
  account: Account;
  layout: RealmLayout;
  /** Parents before children. */
  entries: readonly LdifEntry[];
}

/**
 * Imports entries into the database of a stopped server (`ns-slapd ldif2db`).
 *
 * @throws Error with the server's log when it rejects an entry
 */
export async function importEntries(options: ImportOptions): Promise<void> {
  const { owner, account, layout, entries } = options;
  const file = join(layout.dir, 'import.ldif');
  await pipeline(
    Readable.from(records(entries)),
    createWriteStream(file, { mode: 0o600 }),
  );
  await chown(file, account.uid, account.gid);
  await withErrorLog('The import', layout, () =>
    owner.run({
      account,
      program: 'ns-slapd',
      args: ['ldif2db', '-D', layout.config, '-n', 'userroot', '-i', file],
    }),
  );
  await rm(file);
}

function* records(entries: readonly LdifEntry[]): Generator<string> {
  for (const entry of entries) {
    yield formatLdif(entry);
  }
}

/**
 * Runs a program of the directory server, and adds warnings and errors of the
 * server's log to its error.
 */
export async function withErrorLog(
  what: string,
  { logs }: RealmLayout,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const log = await readFile(join(logs, 'errors'), 'utf8').catch(() => '');
    const problems = log
      .split('\n')
      .filter(line => /- (WARN|ERR|CRIT|EMERG) -/.test(line))
      .slice(0, 5);
    const reason = problems.join('; ') || String(error);
    throw new Error(`${what} failed: ${reason}`, { cause: error });
  }
}

/** Attributes of members in the configuration of the memberOf plugin. */
const MEMBER_ATTRIBUTES = ['member', 'memberUser', 'memberHost'];

/**
 * Replaces `memberOf` of all entries with their direct and indirect groups, as
 * the memberOf plugin does: an import runs no plugins, and the plugin's
 * repair task takes minutes with 20,000 users.
 */
export function addMemberOf(entries: readonly LdifEntry[]): void {
  const byDn = new Map(entries.map(entry => [normalizeDn(entry.dn), entry]));
  const parents = new Map<string, Set<string>>();
  for (const [group, entry] of byDn) {
    for (const member of MEMBER_ATTRIBUTES.flatMap(name => entry.texts(name))) {
      const key = normalizeDn(member);
      const groups = parents.get(key);
      if (groups) {
        groups.add(group);
      } else {
        parents.set(key, new Set([group]));
      }
    }
  }
  for (const [key, entry] of byDn) {
    const groups = ancestors(key, parents);
    groups.delete(key); // circular memberships
    const names = [...groups].flatMap(group => byDn.get(group)?.dn ?? []);
    entry.replace('memberOf', ...names.sort());
  }
}

function ancestors(
  start: string,
  parents: ReadonlyMap<string, ReadonlySet<string>>,
): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const parent of parents.get(key) ?? []) {
      if (!found.has(parent)) {
        found.add(parent);
        open.push(parent);
      }
    }
  }
  return found;
}
