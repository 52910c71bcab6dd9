import type { AuditorServiceEvent } from '@backstage/backend-plugin-api';
import { auditedChunks, type Portion } from './exportMembers';

let ends: unknown[];

const createEvent = async (): Promise<AuditorServiceEvent> => ({
  success: async options => void ends.push(['success', options?.meta]),
  fail: async ({ meta, error }) =>
    void ends.push(['fail', meta, (error as Error).message]),
});

async function* batches(fault?: Error): AsyncGenerator<Portion> {
  yield { rows: 2, text: 'a' };
  yield { rows: 1, text: 'b' };
  if (fault) {
    throw fault;
  }
}

async function read(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
  }
  return text;
}

beforeEach(() => {
  ends = [];
});

it('records how many rows were given away', async () => {
  const chunks = auditedChunks(batches(), createEvent);
  expect(await read(chunks)).toBe('ab');
  expect(ends).toEqual([['success', { rows: 3 }]]);
});

it('records what broke it off, and throws it', async () => {
  const away = new Error('away');
  const chunks = auditedChunks(batches(away), createEvent);
  await expect(read(chunks)).rejects.toBe(away);
  expect(ends).toEqual([['fail', { rows: 3 }, 'away']]);
});

it('records that the reader left', async () => {
  const chunks = auditedChunks(batches(), createEvent);
  await chunks.next();
  await chunks.return();
  expect(ends).toEqual([
    ['fail', { rows: 2 }, 'The caller left before the end'],
  ]);
});
