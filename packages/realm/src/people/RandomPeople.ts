import {
  base,
  cs_CZ,
  de,
  el,
  en,
  es,
  Faker,
  fr,
  ja,
  pl,
  sv,
  tr,
  vi,
  zh_CN,
  type LocaleDefinition,
} from '@faker-js/faker';
import { sshKey } from './userCertificate';
import type { FasProfile, Person } from './Person';
import { uniqueUid } from './Person';
import { userCertificate } from './userCertificate';

/** Names of people, with the locale of their profile. */
const COUNTRIES: readonly {
  weight: number;
  locale: string;
  names: LocaleDefinition;
}[] = [
  { weight: 40, locale: 'en-US', names: en },
  { weight: 8, locale: 'de-DE', names: de },
  { weight: 8, locale: 'cs-CZ', names: cs_CZ },
  { weight: 8, locale: 'fr-FR', names: fr },
  { weight: 8, locale: 'es-ES', names: es },
  { weight: 6, locale: 'pl-PL', names: pl },
  { weight: 4, locale: 'sv-SE', names: sv },
  { weight: 4, locale: 'tr_TR', names: tr },
  { weight: 4, locale: 'vi-VN', names: vi },
  { weight: 4, locale: 'zh-CN', names: zh_CN },
  { weight: 3, locale: 'ja-JP', names: ja },
  { weight: 3, locale: 'el-GR', names: el },
];

/** Texts in names that have a special meaning in LDAP, LDIF or a shell. */
const SPIKES = [
  '(x)',
  '*',
  '\\',
  'Jr., Esq.',
  'a+b',
  '"Q"',
  '<b>',
  ';',
  '#1',
  'a=b',
  '$(id)',
  '%2F',
  '\u200b',
];

const PRONOUNS = ['she/her', 'he/him', 'they/them', 'ze/hir', 'ella / elle'];

/**
 * Number of keys; creating a key takes longer than generating the rest of a
 * user.
 */
const SSH_KEYS = 256;

/** Generates the same users for the same seed. */
export class RandomPeople {
  readonly #faker: Faker;
  readonly #names: {
    weight: number;
    value: { locale: string; faker: Faker };
  }[];
  readonly #taken: Set<string>;
  readonly #sshKeys: string[];

  /** @param taken - user names in lower case; new ones are added */
  constructor(seed: number, taken: Set<string>) {
    this.#faker = new Faker({ locale: [en, base], seed });
    this.#names = COUNTRIES.map(({ weight, locale, names }, index) => ({
      weight,
      value: {
        locale,
        faker: new Faker({ locale: [names, en, base], seed: seed + index + 1 }),
      },
    }));
    this.#taken = taken;
    this.#sshKeys = Array.from({ length: SSH_KEYS }, () =>
      sshKey(this.#octets(32), this.#faker.internet.domainWord()),
    );
  }

  next(): Person {
    const faker = this.#faker;
    const { locale, faker: names } = faker.helpers.weightedArrayElement(
      this.#names,
    );
    const spike =
      this.#maybe(0.02, () => ` ${faker.helpers.arrayElement(SPIKES)}`) ?? '';
    const givenName = names.person.firstName();
    const surname = names.person.lastName() + spike;
    const uid = uniqueUid(faker, givenName, surname, this.#taken);
    const created = faker.date.between({
      from: '2005-01-01',
      to: '2025-12-31',
    });
    created.setUTCMilliseconds(0);
    return {
      uid,
      givenName,
      surname,
      displayName: this.#maybe(0.98, () => `${givenName} ${surname}`),
      mails: this.#mails(uid),
      sshKeys: faker.helpers.arrayElements(this.#sshKeys, this.#few(0.5)),
      certificates: this.#list(0.04, () => this.#certificate(uid)),
      created,
      locked: this.#maybe(0.02, () => faker.datatype.boolean(0.5)),
      aliases: [],
      fas: this.#profile(uid, locale),
    };
  }

  #profile(uid: string, locale: string): FasProfile {
    const faker = this.#faker;
    const page = `https://${
      uid.replace(/[^a-z0-9]/gi, '') || 'user'
    }.example.org/`;
    return {
      timezone: this.#maybe(0.85, () => faker.location.timeZone()),
      locale: this.#maybe(0.8, () => locale),
      nicks: this.#list(0.5, () => this.#nick(uid)),
      gpgKeyIds: this.#list(0.3, () =>
        faker.string.hexadecimal({
          length: faker.helpers.arrayElement([16, 40]),
          casing: 'upper',
          prefix: '',
        }),
      ),
      rhbzEmail: this.#maybe(0.1, () => `${uid}@bugs.example.org`),
      github: this.#maybe(0.4, () => `${uid.replace(/[^a-z0-9]/gi, '-')}-gh`),
      gitlab: this.#maybe(0.1, () => `${uid}_gl`),
      websites: this.#list(0.2, () => `${page}${faker.lorem.slug(1)}`),
      rssUrls: this.#list(0.1, () => `${page}${faker.lorem.slug(1)}.xml`),
      pronouns: this.#list(0.2, () => faker.helpers.arrayElement(PRONOUNS)),
      isPrivate: this.#maybe(0.7, () => faker.datatype.boolean(0.02 / 0.7)),
    };
  }

  #mails(uid: string): string[] {
    const more = this.#maybe(0.12, () => [`${uid}+alt@example.org`]) ?? [];
    return [
      `${uid.replace('$', '')}@example.${this.#faker.helpers.arrayElement([
        'com',
        'net',
        'test',
      ])}`,
      ...more,
    ];
  }

  #nick(uid: string): string {
    const nick = uid.toLowerCase().replace(/[^a-z0-9_]/g, '');
    return this.#faker.helpers.arrayElement([
      `irc:/${nick}`,
      `irc://irc.libera.chat/${nick}`,
      `matrix:/${nick}`,
      `matrix://matrix.example.org/${nick}`,
    ]);
  }

  #certificate(uid: string): Buffer {
    const notBefore = new Date('2025-01-01T00:00:00Z');
    return userCertificate({
      commonName: uid,
      serial: BigInt(`0x01${this.#octets(15).toString('hex')}`),
      notBefore,
      notAfter: new Date('2035-01-01T00:00:00Z'),
      seed: this.#octets(32),
    });
  }

  #octets(length: number): Buffer {
    return Buffer.from(
      this.#faker.string.hexadecimal({ length: 2 * length, prefix: '' }),
      'hex',
    );
  }

  #maybe<T>(probability: number, make: () => T): T | undefined {
    return this.#faker.helpers.maybe(make, { probability });
  }

  /** Returns none, one or two different values. */
  #list<T>(probability: number, make: () => T): T[] {
    const length = this.#few(probability);
    return [...new Set(Array.from({ length }, make))];
  }

  #few(probability: number): number {
    const { float } = this.#faker.number;
    return float() < probability ? 1 + Number(float() < 0.3) : 0;
  }
}
