import type { Principal } from '../../directory/Principal';
import type { DumpedEntry } from './DumpedEntry';
import { naiveTime } from './naiveRecords';

/** An entry as somebody who calls, read off the dump. */
export function naivePrincipal(
  entry: DumpedEntry,
  options: {
    readonly isUser: boolean;
    readonly served: boolean;
    /** All groups that it is in. */
    readonly groups: readonly DumpedEntry[];
  },
): Principal {
  const { isUser, served, groups } = options;
  const canonicalName =
    entry.text('krbCanonicalName') ?? entry.text('krbPrincipalName');
  const service = isUser ? undefined : canonicalName?.split('@')[0];
  const expires = entry.text('krbPrincipalExpiration');
  const kindOfMachine = service?.startsWith('host/') ? 'host' : 'service';
  return {
    dn: entry.dn,
    kind: isUser ? 'user' : kindOfMachine,
    username: isUser ? entry.text('uid') : undefined,
    service,
    served,
    principalNames: entry.texts('krbPrincipalName'),
    canonicalName,
    emails: entry.texts('mail'),
    locked: isLocked(entry),
    expires: expires === undefined ? undefined : new Date(naiveTime(expires)),
    groups: new Set(groups.map(group => group.text('cn')!.toLowerCase())),
  };
}

/** Whether the account is locked. */
export function isLocked(entry: DumpedEntry): boolean {
  return entry.text('nsAccountLock')?.toUpperCase() === 'TRUE';
}
