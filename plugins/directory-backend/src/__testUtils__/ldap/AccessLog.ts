import type { Realm } from '@directory-gateway/realm';
import { readFile } from 'node:fs/promises';

/** A search, as the directory's access log has it. */
export interface LoggedSearch {
  readonly base: string;
  readonly filter: string;
  readonly attributes: readonly string[];
}

const SEARCH =
  / SRCH base="(?<base>[^"]*)" scope=\d filter="(?<filter>.*?)" attrs=(?:"(?<attrs>[^"]*)"|ALL)/;

/** What a realm's directory was asked, by its own account. */
export class AccessLog {
  readonly #path: string;
  #lines = 0;

  constructor(realm: Realm) {
    this.#path = realm.accessLog;
  }

  /** The searches since the last time, in the order of their arrival. */
  async searches(): Promise<readonly LoggedSearch[]> {
    const lines = (await readFile(this.#path, 'utf8')).split('\n');
    // The last one is empty, or not yet whole.
    const fresh = lines.slice(this.#lines, -1);
    this.#lines += fresh.length;
    return fresh.flatMap(line => {
      const found = SEARCH.exec(line)?.groups;
      return found
        ? {
            base: found.base,
            filter: found.filter,
            attributes: (found.attrs ?? '').split(' '),
          }
        : [];
    });
  }
}
