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
  /** Renames the user. */
  const rename = (tables: ReplicaTables, to: string) =>
    tables.rename({ kind: 'users', id: 'id' }, to);

  it('changes the links to a renamed user', () => {
    const tables = tablesWith('uid=a');
    expect(rename(tables, 'uid=b')).toEqual(['cn=staff']);
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
    rename(tables, 'uid=b');
    rename(tables, 'uid=c');
    expect(resolved(tables, 'uid=a')).toBe('uid=c');
    expect(resolved(tables, 'uid=b')).toBe('uid=c');
    expect(resolved(tables, 'uid=d')).toBe('uid=d');
  });

  it('keeps other former keys when one ends', () => {
    const tables = tablesWith('uid=a');
    rename(tables, 'uid=b');
    rename(tables, 'uid=c');
    expect(tables.endAlias('uid=b')).toMatchObject({ id: 'id' });
    expect(tables.endAlias('uid=b')).toBeUndefined();
    rename(tables, 'uid=d');
    expect(resolved(tables, 'uid=a')).toBe('uid=d');
    expect(resolved(tables, 'uid=b')).toBe('uid=b');
    expect(resolved(tables, 'uid=c')).toBe('uid=d');
  });

  it('does not resolve the former keys of a deleted user', () => {
    const tables = tablesWith('uid=a');
    rename(tables, 'uid=b');
    tables.users.delete('uid=b');
    // Another user gets the last key of the deleted one.
    tables.users.set('uid=b', { user: { username: 'b' }, uniqueId: 'other' });
    expect(resolved(tables, 'uid=a')).toBe('uid=a');
  });
});
