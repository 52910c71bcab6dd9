import type { Faker } from '@faker-js/faker';
import { HOSTS_DN, SERVICES_DN } from '../directory/baseTree';
import { LdifEntry } from '../ldif/LdifEntry';
import { REALM } from '../RealmLayout';

/** A service that calls the gateway, and the host it runs on. */
export const BOT_SERVICE = 'bot/builder.example.test';
const BOT_HOST = 'build1.example.test';

/** The DN of a service principal, named without its realm. */
export function serviceDn(principal: string): string {
  return `krbprincipalname=${principal}@${REALM},${SERVICES_DN}`;
}

/** The gateway's and the directory's own services, a bot, and a host. */
export function machines(faker: Faker): LdifEntry[] {
  return [
    ...['HTTP/localhost', 'ldap/localhost', BOT_SERVICE].map(principal =>
      serviceEntry(principal, faker.string.uuid()),
    ),
    new LdifEntry(`fqdn=${BOT_HOST},${HOSTS_DN}`, {
      objectClass: [
        ...['top', 'device', 'ipaobject', 'ipahost', 'krbprincipalaux'],
        ...['ipasshhost', 'pkiuser'],
      ],
      cn: BOT_HOST,
      fqdn: BOT_HOST,
      krbPrincipalName: `host/${BOT_HOST}@${REALM}`,
      krbCanonicalName: `host/${BOT_HOST}@${REALM}`,
      ipaUniqueID: faker.string.uuid(),
    }),
  ];
}

function serviceEntry(principal: string, uniqueId: string): LdifEntry {
  return new LdifEntry(serviceDn(principal), {
    objectClass: [
      ...['top', 'ipaobject', 'ipaservice', 'krbprincipal', 'krbprincipalaux'],
      'pkiuser',
    ],
    krbPrincipalName: `${principal}@${REALM}`,
    krbCanonicalName: `${principal}@${REALM}`,
    ipaUniqueID: uniqueId,
  });
}
