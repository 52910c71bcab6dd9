import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs a realm is made of, and the Debian package that brings each. */
const PACKAGES: Readonly<Record<string, string>> = {
  'ns-slapd': '389-ds-base',
  dscreate: '389-ds-base',
  certutil: 'libnss3-tools',
  pk12util: 'libnss3-tools',
  krb5kdc: 'krb5-kdc',
  kdb5_util: 'krb5-kdc',
  'kadmin.local': 'krb5-admin-server',
  kinit: 'krb5-user',
  ldapmodify: 'ldap-utils',
  openssl: 'openssl',
};

/** Debian keeps servers in sbin, which an ordinary user's PATH leaves out. */
export const PROGRAM_PATH = [process.env.PATH, '/usr/sbin', '/sbin']
  .filter(Boolean)
  .join(delimiter);

/**
 * @throws Error with one line that names every missing program and the
 * packages to install
 */
export function requirePrograms(): void {
  const missing = Object.keys(PACKAGES).filter(
    program => !findProgram(program),
  );
  if (missing.length > 0) {
    const packages = new Set(missing.map(program => PACKAGES[program]));
    throw new Error(
      `Missing ${missing.join(', ')}: install with "apt-get install ${[
        ...packages,
      ].join(' ')}"`,
    );
  }
}

/** The path of a program, if it is installed. */
export function findProgram(program: string): string | undefined {
  return PROGRAM_PATH.split(delimiter)
    .map(folder => join(folder, program))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
