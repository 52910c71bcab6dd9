import type { AgreementEntry, UserEntry } from './entries';
import { ReplicaTables } from './ReplicaTables';

const agreementOf = (signer: string): AgreementEntry => ({
  name: 'terms',
  enabled: true,
  signers: new Set([signer]),
});

/** Tables with a user who is a member of a group and signed an agreement. */
function tablesWith(key: string): ReplicaTables {
  const tables = new ReplicaTables();
  const user = { user: { username: key }, uniqueId: 'id' } as UserEntry;
  tables.users.set(key, user);
  tables.groups.set('cn=staff', { members: [key], sponsors: [key] });
  tables.agreements.set('terms', agreementOf(key));
  return tables;
}

/** Returns the signer of an agreement that is read with a former key. */
function resolved(tables: ReplicaTables, signer: string): string {
  const entry = agreementOf(signer);
  const batch = tables.resolve({
    kind: 'agreements',
    entries: [{ id: 'terms', key: 'cn=terms', entry }],
  });
  const [{ entry: found }] = batch.entries;
  return [...(found as AgreementEntry).signers].join();
}

describe('ReplicaTables', () => {
  it('changes the links to a renamed user', () => {
    const tables = tablesWith('uid=a');
    expect(tables.rename('users', 'uid=a', 'uid=b')).toEqual(['cn=staff']);
    expect(tables.groups.graph.get('cn=staff')).toEqual({
      members: ['uid=b'],
      sponsors: ['uid=b'],
    });
    expect(tables.agreements.differs('terms', agreementOf('uid=b'))).toBe(
      false,
    );
  });

  it('resolves all former keys of a user who was renamed repeatedly', () => {
    const tables = tablesWith('uid=a');
    tables.rename('users', 'uid=a', 'uid=b');
    tables.rename('users', 'uid=b', 'uid=c');
    expect(resolved(tables, 'uid=a')).toBe('uid=c');
    expect(resolved(tables, 'uid=b')).toBe('uid=c');
    expect(resolved(tables, 'uid=d')).toBe('uid=d');
  });

  it('keeps other former keys when one ends', () => {
    const tables = tablesWith('uid=a');
    tables.rename('users', 'uid=a', 'uid=b');
    tables.rename('users', 'uid=b', 'uid=c');
    expect(tables.endAlias('uid=b')).toBe('uid=c');
    expect(tables.endAlias('uid=b')).toBeUndefined();
    tables.rename('users', 'uid=c', 'uid=d');
    expect(resolved(tables, 'uid=a')).toBe('uid=d');
    expect(resolved(tables, 'uid=b')).toBe('uid=b');
    expect(tables.aliasOf('uid=c')).toBe('uid=d');
  });

  it('ends the former keys of a deleted user', () => {
    const tables = tablesWith('uid=a');
    tables.rename('users', 'uid=a', 'uid=b');
    tables.users.delete('uid=b');
    tables.endAliasesOf('uid=b');
    expect(resolved(tables, 'uid=a')).toBe('uid=a');
    // Another user gets the last key of the deleted one.
    tables.users.set('uid=c', { user: { username: 'c' }, uniqueId: 'other' });
    tables.rename('users', 'uid=c', 'uid=b');
    expect(tables.endAlias('uid=c')).toBe('uid=b');
    expect(tables.endAlias('uid=a')).toBeUndefined();
  });
});
