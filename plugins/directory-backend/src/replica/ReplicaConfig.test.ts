import { ConfigReader } from '@backstage/config';
import { readReplicaConfig } from './ReplicaConfig';

const read = (directory: Record<string, unknown>) =>
  readReplicaConfig(new ConfigReader(directory as never));

it('copies the directory unless told otherwise', () => {
  expect(read({ reads: 'direct', replica: {} })).toBeUndefined();
  expect(read({ reads: 'replica' })).toEqual(read({}));
  expect(read({})).toEqual({
    maxStalenessMs: 60_000,
    maxShrinkage: 0.2,
  });
  expect(
    read({
      reads: 'replica',
      replica: { maxStaleness: { seconds: 7 }, maxShrinkage: 0 },
    }),
  ).toEqual({ maxStalenessMs: 7000, maxShrinkage: 0 });
});

it('names what is wrong', () => {
  expect(() => read({ reads: 'memory' })).toThrow(
    'directory.reads must be "replica" or "direct", not "memory"',
  );
  expect(() => read({ replica: { maxShrinkage: 20 } })).toThrow(
    'directory.replica.maxShrinkage must be a share from 0 to 1',
  );
});
