import type { Faker } from '@faker-js/faker';
import { AGREEMENTS_DN } from '../directory/baseTree';
import { escapeRdnValue } from '../ldif/escapeRdnValue';
import { LdifEntry } from '../ldif/LdifEntry';
import { groupDn } from './Group';
import { personDn } from './personEntry';

/**
 * Agreements: one that most have signed and that the group `packager` demands
 * (its `member`; so everybody in that group carries it in `memberOf`, also
 * `minimal`, who has not signed), one that few have, one no longer in force,
 * one that nobody has signed.
 */
export function agreements(
  faker: Faker,
  people: readonly string[],
): LdifEntry[] {
  const reluctant = personDn('minimal');
  const signers = (share: number, ...always: string[]) => {
    const drawn = faker.helpers.arrayElements(
      [...people],
      Math.floor(share * people.length),
    );
    return [...new Set([...always, ...drawn])].filter(dn => dn !== reluctant);
  };
  const [alice, bob, carol] = ['alice', 'bob', 'carol'].map(personDn);
  return [
    {
      name: 'FPCA',
      text: 'Project Contributor Agreement',
      signed: signers(0.8, alice, bob, carol),
      groups: [groupDn('packager')],
      enabled: true,
    },
    {
      name: 'CentOS Agreement',
      text: 'CentOS (contributors), *agreement*',
      signed: signers(0.1, alice),
      groups: [],
      enabled: true,
    },
    {
      name: 'Old CLA',
      text: 'No longer in force',
      signed: signers(0.3, alice, bob),
      groups: [],
      enabled: false,
    },
    {
      name: 'Nobody signed',
      text: 'Waits for its first signature',
      signed: [],
      groups: [],
      enabled: true,
    },
  ].map(
    ({ name, text, signed, groups, enabled }) =>
      new LdifEntry(`cn=${escapeRdnValue(name)},${AGREEMENTS_DN}`, {
        objectClass: ['top', 'ipaassociation', 'fasagreement'],
        cn: name,
        description: text,
        ipaUniqueID: faker.string.uuid(),
        ipaEnabledFlag: enabled ? 'TRUE' : 'FALSE',
        member: groups,
        memberUser: signed,
      }),
  );
}
