import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import type { Directory } from '../directory/Directory';
import { emptyUser } from '../directory/User';
import { gateReads } from './gateReads';
import { ReplicaGate, ReplicaState } from './ReplicaState';

const context = {
  signal: new AbortController().signal,
} as Parameters<Directory['streamUsers']>[1];
const query = {} as Parameters<Directory['streamUsers']>[0];

describe('gateReads', () => {
  const portion = [{ ...emptyUser(), username: 'alice' }];
  let state: ReplicaState;
  let directory: Directory;

  beforeEach(() => {
    state = new ReplicaState({
      maxStalenessMs: 60_000,
      logger: new RecordingLogger(),
    });
    const replicated: Pick<Directory, 'streamUsers'> = {
      async streamUsers() {
        async function* portions() {
          yield portion;
          yield portion;
        }
        return { total: 2, portions: portions() };
      },
    };
    directory = gateReads(replicated as Directory, new ReplicaGate(state));
  });

  it('has a read wait for the first sync', async () => {
    const stream = directory.streamUsers(query, context);
    state.prove(performance.now());
    expect(await stream).toMatchObject({ total: 2 });
  });

  it('ends a stream in the portion after a suspension', async () => {
    state.prove(performance.now());
    const { portions } = await directory.streamUsers(query, context);
    const read = portions[Symbol.asyncIterator]();
    expect(await read.next()).toEqual({ done: false, value: portion });
    state.suspend('accessCheck', 'unreadable');
    await expect(read.next()).rejects.toMatchObject({ reason: 'accessCheck' });
  });
});
