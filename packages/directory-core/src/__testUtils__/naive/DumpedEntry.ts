import type { Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An entry as printed by ldapsearch. */
export class DumpedEntry {
  readonly dn: string;
  /** The DN in lower case. */
  readonly key: string;
  /** LDIF record. */
  readonly record: string;
  readonly #values = new Map<string, Buffer[]>();

  constructor(record: string) {
    this.record = record;
    for (const line of record.split('\n')) {
      const [, name, base64, rest] = /^([^:]+):(:?) ?(.*)$/s.exec(line)!;
      const value = Buffer.from(rest, base64 ? 'base64' : 'utf8');
      const key = name.toLowerCase();
      this.#values.set(key, [...this.octets(key), value]);
    }
    [this.dn] = this.texts('dn');
    this.key = this.dn.toLowerCase();
  }

  octets(attribute: string): readonly Buffer[] {
    return this.#values.get(attribute.toLowerCase()) ?? [];
  }

  texts(attribute: string): readonly string[] {
    return this.octets(attribute).map(value => value.toString());
  }

  text(attribute: string): string | undefined {
    return this.texts(attribute)[0];
  }

  /** Returns the keys of other entries in an attribute. */
  links(attribute: string): readonly string[] {
    return this.texts(attribute).map(dn => dn.toLowerCase());
  }

  isA(objectClass: string): boolean {
    return this.texts('objectClass').some(
      name => name.toLowerCase() === objectClass.toLowerCase(),
    );
  }

  /** Returns whether the entry is directly below a container. */
  isIn(container: string): boolean {
    return this.key.replace(/^[^,]*,/, '') === container.toLowerCase();
  }
}

/** Returns all entries of a realm's directory, read by its administrator. */
export async function dumpEntries(
  realm: Realm,
): Promise<readonly DumpedEntry[]> {
  const { stdout } = await run(
    'ldapsearch',
    [
      ...['-x', '-D', realm.rootDn, '-y', realm.rootPasswordFile],
      ...['-H', realm.ldapUrl, '-b', realm.baseDn],
      ...['-LLL', '-o', 'ldif-wrap=no'],
      ...['(objectClass=*)', '*', 'nsAccountLock', 'createTimestamp'],
    ],
    { maxBuffer: 512 * 1024 * 1024 },
  );
  return stdout
    .trim()
    .split('\n\n')
    .map(record => new DumpedEntry(record));
}
