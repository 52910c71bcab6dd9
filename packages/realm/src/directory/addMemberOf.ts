import type { LdifEntry } from '../ldif/LdifEntry';
import { normalizeDn } from '../ldif/normalizeDn';

/** The attributes that make a group, as the memberOf plug-in is configured. */
const MEMBER_ATTRIBUTES = ['member', 'memberUser', 'memberHost'];

/**
 * Sets `memberOf` on every entry to all groups it is in, directly or through
 * other groups, as the memberOf plug-in would: an import runs no plug-ins, and
 * the plug-in's own repair takes minutes at 20,000 people. What the entries
 * said before is dropped.
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
    groups.delete(key); // nobody is a member of oneself, even in a circle
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
