import type { Realm } from '@directory-gateway/realm';
import { readFile } from 'node:fs/promises';

/** A search in the access log. */
export interface LoggedSearch {
  readonly base: string;
  readonly filter: string;
  readonly attributes: readonly string[];
  /** DN to which the connection is bound; empty for anonymous. */
  readonly boundAs: string;
}

/** An attempt to bind. */
export interface LoggedBind {
  readonly dn: string;
  /** Result code; `undefined` without a result. */
  result?: number;
}

interface LoggedOperations {
  readonly searches: readonly LoggedSearch[];
  readonly binds: readonly LoggedBind[];
}

const SEARCH =
  / SRCH base="(?<base>[^"]*)" scope=\d filter="(?<filter>.*?)" attrs=(?:"(?<attrs>[^"]*)"|ALL)/;

/** Operations in the access log of a realm's directory server. */
export class AccessLog {
  readonly #path: string;
  /** Number of lines to ignore. */
  #start = 0;

  constructor(realm: Realm) {
    this.#path = realm.accessLog;
  }

  /** Returns a log that starts now. */
  static async from(realm: Realm): Promise<AccessLog> {
    const log = new AccessLog(realm);
    await log.searches();
    return log;
  }

  /** Returns the searches since the last call, in order of arrival. */
  async searches(): Promise<readonly LoggedSearch[]> {
    const lines = await this.#lines();
    const { searches } = parse(lines, this.#start);
    this.#start = lines.length;
    return searches;
  }

  /** Returns all operations since {@link from} or {@link searches}. */
  async read(): Promise<LoggedOperations> {
    return parse(await this.#lines(), this.#start);
  }

  async #lines(): Promise<readonly string[]> {
    // The last line is empty or incomplete.
    return (await readFile(this.#path, 'utf8')).split('\n').slice(0, -1);
  }
}

/**
 * Parses a log. Lines before the start are used only to determine how
 * connections are bound. The result of a bind may be logged after the first
 * search of its connection.
 */
function parse(lines: readonly string[], start: number): LoggedOperations {
  const bound = new Map<string, LoggedBind>();
  const searches: (Omit<LoggedSearch, 'boundAs'> & { bind?: LoggedBind })[] =
    [];
  const binds: LoggedBind[] = [];
  for (const [index, line] of lines.entries()) {
    const connection = / conn=(\d+) /.exec(line)?.[1] ?? '';
    const bind = bound.get(connection);
    const search = SEARCH.exec(line)?.groups;
    if (/ connection from /.test(line)) {
      // A restarted server numbers its connections from 1.
      bound.delete(connection);
    } else if (/ BIND dn=/.test(line)) {
      const next = { dn: / dn="([^"]*)"/.exec(line)![1] };
      bound.set(connection, next);
      binds.push(...(index >= start ? [next] : []));
    } else if (/ RESULT .* tag=97 /.test(line) && bind) {
      bind.result = Number(/ err=(\d+) /.exec(line)?.[1]);
    } else if (search && index >= start) {
      const { base, filter, attrs = '' } = search;
      searches.push({ base, filter, attributes: attrs.split(' '), bind });
    }
  }
  return {
    binds,
    searches: searches.map(({ bind, ...search }) => ({
      ...search,
      boundAs: bind?.result === 0 ? bind.dn : '',
    })),
  };
}
