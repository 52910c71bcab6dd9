import { createHash, randomBytes } from 'node:crypto';
import { LdifEntry } from '../ldif/LdifEntry';
import { BASE_DN, PORTAL_DN } from '../RealmLayout';
import { accessControl } from './accessControl';

/** FreeIPA's containers. */
export const PEOPLE_DN = `cn=users,cn=accounts,${BASE_DN}`;
export const GROUPS_DN = `cn=groups,cn=accounts,${BASE_DN}`;
export const SERVICES_DN = `cn=services,cn=accounts,${BASE_DN}`;
export const HOSTS_DN = `cn=computers,cn=accounts,${BASE_DN}`;
export const AGREEMENTS_DN = `cn=fasagreements,${BASE_DN}`;

/**
 * Container of preserved users (`ipa user-del --preserve`), which the service
 * account cannot read.
 */
const DELETED_USERS_DN = `cn=deleted users,cn=accounts,cn=provisioning,${BASE_DN}`;

/** Containers whose entries an LDIF file replaces. */
export const DATA_CONTAINERS = [
  PEOPLE_DN,
  GROUPS_DN,
  SERVICES_DN,
  HOSTS_DN,
  AGREEMENTS_DN,
];

/** Returns the suffix, the containers and the service account. */
export function baseTree(
  schema: 'fas' | 'freeipa',
  portalPassword: string,
): LdifEntry[] {
  const aci = accessControl(schema);
  const containers = [
    `cn=accounts,${BASE_DN}`,
    PEOPLE_DN,
    GROUPS_DN,
    SERVICES_DN,
    HOSTS_DN,
    `cn=etc,${BASE_DN}`,
    `cn=sysaccounts,cn=etc,${BASE_DN}`,
    `cn=provisioning,${BASE_DN}`,
    `cn=accounts,cn=provisioning,${BASE_DN}`,
    DELETED_USERS_DN,
    ...(schema === 'fas' ? [AGREEMENTS_DN] : []),
  ];
  return [
    new LdifEntry(BASE_DN, {
      objectClass: ['top', 'domain'],
      dc: 'example',
      aci: [...aci[BASE_DN]],
    }),
    ...containers.map(
      dn =>
        new LdifEntry(dn, {
          objectClass: ['top', 'nsContainer'],
          cn: dn.slice('cn='.length, dn.indexOf(',')),
          aci: [...(aci[dn] ?? [])],
        }),
    ),
    new LdifEntry(PORTAL_DN, {
      objectClass: ['top', 'account', 'simpleSecurityObject'],
      uid: 'portal',
      userPassword: hashed(portalPassword),
    }),
  ];
}

/** Hashes a password, because an import does not hash passwords. */
function hashed(password: string): string {
  const salt = randomBytes(16);
  const digest = createHash('sha512').update(password).update(salt).digest();
  return `{SSHA512}${Buffer.concat([digest, salt]).toString('base64')}`;
}
