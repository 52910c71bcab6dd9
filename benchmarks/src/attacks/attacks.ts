import { once, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** The portal to attack. */
interface Target {
  /** For example `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Portal token of a user without special permissions. */
  readonly token: string;
  /** Ends the attack. */
  readonly signal: AbortSignal;
}

/** Number of responses to the attacker, by status or error. */
export type Responses = Record<string, number>;

/** First message to the process that runs this file. */
export type AttackOptions = Omit<Target, 'signal'> & { readonly name: string };

type Attack = (target: Target, count: (response: string) => void) => unknown;

/** Pause of a client whose connection was closed, in milliseconds. */
const PAUSE_MS = 250;

const dispatcher = new Agent({ connections: null, headersTimeout: 0 });

/** Attacks by name; they run until the target's signal aborts. */
export const attacks: Readonly<Record<string, Attack>> = {
  none: ({ signal }) => once(signal, 'abort'),

  'deep catalog query': (target, count) =>
    repeatRequest(4, target, count, {
      path: '/api/catalog/entities/by-query',
      body: JSON.stringify({ query: nestedQuery() }),
    }),

  'deep catalog cursor': (target, count) => {
    const cursor = JSON.stringify({
      orderFields: [],
      orderFieldValues: [],
      isPrevious: false,
      query: nestedQuery(),
    });
    return repeatRequest(4, target, count, {
      path: '/api/catalog/entities/by-query',
      body: JSON.stringify({ cursor: Buffer.from(cursor).toString('base64') }),
    });
  },

  'YAML of 16,000 keys': (target, count) => {
    const keys = Array.from({ length: 16_000 }, (_, at) => `k${at}`);
    return repeatRequest(4, target, count, {
      path: '/api/catalog/.backstage/actions/v1/actions/catalog%3Avalidate-entity/invoke',
      body: JSON.stringify({ entity: `{${keys}}` }),
    });
  },

  '40,000 invalid permissions': (target, count) =>
    repeatRequest(4, target, count, {
      path: '/api/permission/authorize',
      body: JSON.stringify({ items: Array(40_000).fill(0) }),
    }),

  'search for 100 letters': (target, count) =>
    repeatRequest(4, target, count, {
      path: `/api/search/query?term=${letters(100)}`,
    }),

  'search action for 90,000 letters': (target, count) =>
    repeatRequest(4, target, count, {
      path: '/api/search/.backstage/actions/v1/actions/search%3Aquery/invoke',
      body: JSON.stringify({ term: letters(90_000) }),
    }),

  'cursor with malformed filters': (target, count) => {
    let filter: object = { anyOf: Array(200).fill(0) };
    for (let level = 0; level < 25; level += 1) {
      filter = { not: filter };
    }
    const cursor = JSON.stringify({
      orderFields: [],
      orderFieldValues: [],
      isPrevious: false,
      filter,
    });
    return repeatRequest(4, target, count, {
      path: '/api/catalog/entities/by-query',
      body: JSON.stringify({ cursor: Buffer.from(cursor).toString('base64') }),
    });
  },

  'field of 512 dots': (target, count) =>
    repeatRequest(4, target, count, {
      path: `/api/catalog/entities?fields=${'.'.repeat(512)}`,
    }),

  '8,000 search terms': (target, count) => {
    const terms = Array.from({ length: 8000 }, (_, at) => `group=g${at}`);
    return repeatRequest(10, target, count, {
      path: `/api/directory/v1/search/users/?${terms.join('&')}`,
    });
  },

  'forms of 1,100 parts': (target, count) => {
    const part = '--b\r\nContent-Disposition: form-data; name=p\r\n\r\n\r\n';
    return repeatRequest(10, target, count, {
      path: '/api/directory/v1/certs/',
      // Shorter than the API's limit of 64 KiB.
      body: `${part.repeat(1100)}--b--\r\n`,
      type: 'multipart/form-data; boundary=b',
    });
  },
};

/** Runs several clients, each repeatedly until the signal aborts. */
async function repeat(
  clients: number,
  { signal }: Target,
  run: () => Promise<unknown>,
): Promise<void> {
  const client = async () => {
    while (!signal.aborted) {
      await run();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Sends a request from several clients: a POST if it has a body. */
function repeatRequest(
  clients: number,
  target: Target,
  count: (response: string) => void,
  options: { readonly path: string; body?: string; type?: string },
): Promise<void> {
  const { origin, token, signal } = target;
  const { path, body, type = 'application/json' } = options;
  return repeat(clients, target, async () => {
    try {
      const response = await request(`${origin}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': type }),
        },
        body,
        signal,
        dispatcher,
      });
      await response.body.dump();
      count(`${response.statusCode}`);
    } catch (error) {
      const { code = 'failed' } = error as { code?: string };
      count(signal.aborted ? 'no response' : code);
      await sleep(PAUSE_MS);
    }
  });
}

/** Returns letters that are a word of no document. */
function letters(length: number): string {
  return 'kjqzxvwy'.repeat(length).slice(0, length);
}

function nestedQuery(): object {
  let query: object = { kind: 'user' };
  for (let level = 1; level < 1600; level += 1) {
    query = { $not: query };
  }
  return query;
}

/*
 * Attacks from a separate process, so that the measured requests are not
 * delayed: the first message names the attack, and the second one ends it.
 */
if (process.send) {
  const aborter = new AbortController();
  setMaxListeners(0, aborter.signal);
  process.once('message', async (options: AttackOptions) => {
    process.once('message', () => aborter.abort());
    const responses: Responses = {};
    await attacks[options.name](
      { ...options, signal: aborter.signal },
      response => {
        responses[response] = (responses[response] ?? 0) + 1;
      },
    );
    process.send!({ responses });
    process.disconnect();
  });
}
