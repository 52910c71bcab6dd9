import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { addGroup, addUser, agreementDn, userDn } from './entries';
import type { NaiveDirectory } from '../naive/NaiveDirectory';

/** A write to the directory. */
export interface Change {
  readonly ldif: string;
}

/** The agreement to which changes apply. */
const AGREEMENT = agreementDn('FPCA');

/**
 * Generates changes to the membership or existence of entries that are valid in
 * the state of the model.
 *
 * @param name - unused name for added entries
 */
export function change(
  model: NaiveDirectory,
  name: string,
): fc.Arbitrary<Change> {
  const user = fc.constantFrom(...model.users.map(({ dn }) => dn));
  const group = fc.constantFrom(...model.groups.map(({ dn }) => dn));
  return fc
    .oneof(
      fc.boolean().map(locked => addFasUser(name, locked)),
      user.map(dn => `dn: ${dn}\nchangetype: delete\n\n`),
      user.map(dn => renamed(dn, `uid=${name}`)),
      user.map(dn => modified(dn, ['replace', 'nsAccountLock', 'TRUE'])),
      user.map(dn => modified(dn, ['replace', 'nsAccountLock', 'FALSE'])),
      user.map(dn => modified(dn, ['replace', 'fasIsPrivate', 'TRUE'])),
      user.map(dn => addFasGroup(name, [dn])),
      group.map(dn => `dn: ${dn}\nchangetype: delete\n\n`),
      group.map(dn => renamed(dn, `cn=${name}`)),
      group.map(dn => addFasGroup(name, [dn])),
      fc
        .tuple(group, user)
        .map(([dn, member]) => modified(dn, ['replace', 'member', member])),
      fc
        .tuple(group, group)
        .map(([dn, manager]) =>
          modified(dn, ['replace', 'memberManager', manager]),
        ),
      user.map(dn => modified(AGREEMENT, ['replace', 'memberUser', dn])),
      fc
        .constantFrom('TRUE', 'FALSE')
        .map(flag => modified(AGREEMENT, ['replace', 'ipaEnabledFlag', flag])),
    )
    .map(ldif => ({ ldif }));
}

/**
 * Generates changes to fields or nested groups that are valid in the state of
 * the model.
 *
 * @param name - unused name for added entries
 */
export function edit(
  model: NaiveDirectory,
  name: string,
): fc.Arbitrary<Change> {
  const user = fc.constantFrom(...model.users.map(({ dn }) => dn));
  const group = fc.constantFrom(...model.groups.map(({ dn }) => dn));
  const text = fc.constantFrom(name, `${name} Zoé`, `  Two  ${name}`, 'smith');
  const attribute = fc.constantFrom('mail', 'displayName', 'sn', 'givenName');
  return fc
    .oneof(
      fc
        .tuple(user, attribute, text)
        .map(([dn, changed, value]) =>
          modified(dn, [
            ...(['replace', changed] as const),
            changed === 'mail' ? `${name}@changed.example.test` : value,
          ]),
        ),
      fc
        .tuple(group, text)
        .map(([dn, value]) => modified(dn, ['replace', 'description', value])),
      user.map(dn => modified(dn, ['replace', 'fasIsPrivate', 'FALSE'])),
      fc.tuple(group, user).map(members => addFasGroup(name, members)),
      fc
        .uniqueArray(group, { minLength: 2, maxLength: 2 })
        .map(members => addFasGroup(name, members)),
    )
    .map(ldif => ({ ldif }));
}

/**
 * Returns a change record that adds a user with a name and a lock. Like
 * FreeIPA, it assigns a stable ID.
 */
export function addFasUser(uid: string, locked = false): string {
  return addUser(uid, {
    objectClass: [
      ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux', 'ipaObject'],
      'fasUser',
    ],
    ipaUniqueID: randomUUID(),
    ...(locked && { nsAccountLock: 'TRUE' }),
  });
}

/** Returns a change record that adds a group with a stable ID. */
export function addFasGroup(cn: string, members: readonly string[]): string {
  return addGroup(cn, members, {
    objectClass: ['ipaUserGroup', 'ipaObject', 'fasGroup'],
    ipaUniqueID: randomUUID(),
  });
}

/**
 * Returns a change record after which the API no longer serves an added user.
 */
export function withdrawn(uid: string): string {
  return modified(userDn(uid), ['delete', 'objectClass', 'fasUser']);
}

/** Returns a change record that renames an entry. */
export function renamed(dn: string, rdn: string): string {
  return `dn: ${dn}\nchangetype: modrdn\nnewrdn: ${rdn}\ndeleteoldrdn: 1\n\n`;
}

function modified(
  dn: string,
  [action, attribute, value]: readonly [string, string, string],
): string {
  return `dn: ${dn}\nchangetype: modify\n${action}: ${attribute}\n${attribute}: ${value}\n\n`;
}
