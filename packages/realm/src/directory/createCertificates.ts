import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from '../processes/Account';
import type { ProcessOwner } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';

const NEW_KEY = [
  ...['req', '-x509', '-days', '3650', '-nodes'],
  ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
];

const TEMPORARY = [
  'openssl.cnf',
  'ca.key',
  'ldaps.key',
  'ldaps.pem',
  'ldaps.p12',
];

/** Whole, because what OpenSSL's own file adds differs between systems. */
const CONFIGURATION = `[req]
distinguished_name = names
[names]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:localhost, IP:127.0.0.1
`;

/**
 * Makes a certificate authority of the realm's own and a certificate of it for
 * LDAPS (`localhost`, `127.0.0.1`), puts both into the instance's NSS
 * database, and the authority's certificate into `layout.caFile`. The
 * authority's key is thrown away.
 */
export async function createCertificates(
  owner: ProcessOwner,
  account: Account,
  layout: RealmLayout,
): Promise<void> {
  const file = (name: string) => join(layout.dir, name);
  const password = randomBytes(24).toString('hex');
  const openssl = (...args: string[]) =>
    owner.run({ account, cwd: layout.dir, program: 'openssl', args });
  await writeFile(file('openssl.cnf'), CONFIGURATION);
  await openssl(
    ...NEW_KEY,
    ...['-config', file('openssl.cnf'), '-extensions', 'authority'],
    ...['-subj', `/O=${REALM}/CN=Certificate Authority`],
    ...['-keyout', file('ca.key'), '-out', layout.caFile],
  );
  await openssl(
    ...NEW_KEY,
    ...['-CA', layout.caFile, '-CAkey', file('ca.key')],
    ...['-config', file('openssl.cnf'), '-extensions', 'server'],
    ...['-subj', `/O=${REALM}/CN=localhost`],
    ...['-keyout', file('ldaps.key'), '-out', file('ldaps.pem')],
  );
  await openssl(
    ...['pkcs12', '-export', '-name', 'Server-Cert'],
    ...['-in', file('ldaps.pem'), '-inkey', file('ldaps.key')],
    ...['-out', file('ldaps.p12'), '-passout', `pass:${password}`],
  );
  await intoNssDatabase(owner, account, layout, password);
  for (const name of TEMPORARY) {
    await rm(file(name));
  }
}

async function intoNssDatabase(
  owner: ProcessOwner,
  account: Account,
  { dir, config, caFile }: RealmLayout,
  password: string,
): Promise<void> {
  const pin = join(config, 'pwdfile.txt');
  const database = ['-d', config, '-f', pin];
  await owner.run({
    account,
    program: 'certutil',
    args: ['-A', ...database, '-n', 'CA', '-t', 'CT,,', '-a', '-i', caFile],
  });
  await owner.run({
    account,
    program: 'pk12util',
    args: [
      '-i',
      join(dir, 'ldaps.p12'),
      '-d',
      config,
      '-k',
      pin,
      '-W',
      password,
    ],
  });
}
