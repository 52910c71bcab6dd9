import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readReplicaConfig } from './ReplicaConfig';

const read = (replica: JsonObject) =>
  readReplicaConfig(new ConfigReader(replica));

describe('readReplicaConfig', () => {
  it('returns defaults without configuration', () => {
    expect(readReplicaConfig(undefined)).toEqual(read({}));
    expect(read({})).toEqual({ maxStalenessMs: 60_000, maxShrinkage: 0.2 });
  });

  it('reads durations and shares', () => {
    expect(read({ maxStaleness: { seconds: 7 }, maxShrinkage: 0 })).toEqual({
      maxStalenessMs: 7000,
      maxShrinkage: 0,
    });
  });

  it.each([
    [{ maxShrinkage: 20 }, 'directory.replica.maxShrinkage must be a share'],
    [{ maxStaleness: '4s' }, 'directory.replica.maxStaleness must be at least'],
  ])('rejects %p', (replica, message) => {
    expect(() => read(replica)).toThrow(message);
  });
});
