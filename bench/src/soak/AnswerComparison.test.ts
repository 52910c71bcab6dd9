import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compareAnswers } from './AnswerComparison';

/** What a server says at a time, in milliseconds since the test began. */
type Script = (ms: number) => string;

const SHOWS_MS = 1000;

describe('compareAnswers', () => {
  const servers: Server[] = [];
  let began: number;

  beforeEach(() => {
    began = performance.now();
  });

  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.close();
      await once(server, 'close');
    }
  });

  async function serve(script: Script): Promise<string> {
    const server = createServer((_req, res) => {
      const text = script(performance.now() - began);
      res.writeHead(text === 'gone' ? 404 : 200).end(text);
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function compare(options: {
    readonly copy: Script;
    readonly direct: Script;
    /** When the last write was. Default: nothing has ever been written. */
    readonly writtenAt?: number;
  }) {
    const ask = async (script: Script) => {
      const url = await serve(script);
      return async () => {
        const response = await fetch(url);
        return { status: response.status, text: await response.text() };
      };
    };
    return compareAnswers(
      { copy: await ask(options.copy), direct: await ask(options.direct) },
      {
        judge: at =>
          at - (options.writtenAt ?? -Infinity) > SHOWS_MS ? 'wrong' : 'wait',
        signal: new AbortController().signal,
      },
    );
  }

  it('finds a difference that was planted', async () => {
    const wrong = await compare({ copy: () => 'bob', direct: () => 'alice' });
    expect(wrong).toEqual({
      kind: 'wrong',
      copy: { status: 200, text: 'bob' },
      direct: { status: 200, text: 'alice' },
    });
  });

  it('finds one that is only in the status', async () => {
    const wrong = await compare({ copy: () => 'gone', direct: () => 'alice' });
    expect(wrong.kind).toBe('wrong');
  });

  it('finds one that stays when the writing has ended', async () => {
    const wrong = await compare({
      copy: () => 'old',
      direct: () => 'new',
      writtenAt: began + 100,
    });
    expect(wrong.kind).toBe('wrong');
    expect(performance.now() - began).toBeGreaterThan(1000);
  });

  it('takes what both say', async () => {
    const same = await compare({ copy: () => 'alice', direct: () => 'alice' });
    expect(same).toEqual({ kind: 'same' });
  });

  it('takes what the directory said just before, or says just after', async () => {
    let asked = 0;
    const changing = () => `${asked++}`;
    const before = await compare({ copy: () => '0', direct: changing });
    asked = 0;
    const after = await compare({ copy: () => '1', direct: changing });
    expect([before, after]).toEqual([{ kind: 'same' }, { kind: 'same' }]);
  });

  it('waits for a copy that follows', async () => {
    const late = await compare({
      copy: ms => (ms < 400 ? 'old' : 'new'),
      direct: () => 'new',
      writtenAt: began,
    });
    expect(late).toEqual({ kind: 'late', ms: expect.any(Number) });
  });

  it('knows who was late', async () => {
    const ahead = await compare({
      copy: () => 'new',
      direct: ms => (ms < 400 ? 'old' : 'new'),
      writtenAt: began,
    });
    expect(ahead).toEqual({ kind: 'ahead', ms: expect.any(Number) });
  });
});
