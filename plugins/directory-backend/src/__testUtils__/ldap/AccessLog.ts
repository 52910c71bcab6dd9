import type { Realm } from '@directory-gateway/realm';
import { readFile, stat } from 'node:fs/promises';

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

/** An attempt to bind. */
export interface LoggedBind {
  readonly dn: string;
  /** The result code; `undefined` while there is none. */
  result?: number;
}

/** A search, and as whom it was asked. */
export interface BoundSearch {
  readonly base: string;
  /** Empty: anonymously. */
  readonly boundAs: string;
}

/**
 * The last bind of each connection, line after line of the log. Its result may
 * be written after the first search on it: the answer goes out first.
 */
class Story {
  readonly #binds = new Map<string, LoggedBind>();

  /** What a line tells of, if it is one of the two. */
  tell(
    line: string,
  ): LoggedBind | { base: string; bind: LoggedBind | undefined } | undefined {
    const connection = / conn=(\d+) /.exec(line)?.[1] ?? '';
    const bind = this.#binds.get(connection);
    if (/ connection from /.test(line)) {
      // A server that restarts numbers its connections from 1 again. A farewell
      // is no end: it may stand before the result that it answers.
      this.#binds.delete(connection);
    } else if (/ BIND dn=/.test(line)) {
      const next: LoggedBind = { dn: quoted('dn', line) };
      this.#binds.set(connection, next);
      return next;
    } else if (/ RESULT .* tag=97 /.test(line) && bind) {
      bind.result = Number(/ err=(\d+) /.exec(line)?.[1]);
    } else if (/ SRCH base=/.test(line)) {
      return { base: quoted('base', line), bind };
    }
    return undefined;
  }
}

/** Who has bound to a realm's directory since a moment, and asked as whom. */
export class BindLog {
  readonly #path: string;
  readonly #from: number;

  private constructor(path: string, from: number) {
    this.#path = path;
    this.#from = from;
  }

  /** Looks at what comes after now, on whatever connections. */
  static async from(realm: Realm): Promise<BindLog> {
    const { size } = await stat(realm.accessLog);
    return new BindLog(realm.accessLog, size);
  }

  /** The whole file is read: a connection may be older than the moment. */
  async read(): Promise<{
    readonly searches: readonly BoundSearch[];
    readonly binds: readonly LoggedBind[];
  }> {
    const story = new Story();
    const bytes = await readFile(this.#path);
    const told = [
      bytes.subarray(0, this.#from),
      bytes.subarray(this.#from),
    ].map(part =>
      part
        .toString()
        .split('\n')
        .map(line => story.tell(line)),
    );
    const events = told[1].filter(event => event !== undefined);
    return {
      searches: events
        .filter(event => 'base' in event)
        .map(({ base, bind }) => {
          return { base, boundAs: bind?.result === 0 ? bind.dn : '' };
        }),
      binds: events.filter(event => 'dn' in event),
    };
  }
}

function quoted(name: string, line: string): string {
  return new RegExp(` ${name}="([^"]*)"`).exec(line)?.[1] ?? '';
}
