import { mockServices } from '@backstage/backend-test-utils';
import { scheduleBlockedKeys } from './scheduleBlockedKeys';

it('blocks each key once, including one that the CA could not block before', async () => {
  const scheduler = mockServices.scheduler.mock();
  const logger = mockServices.logger.mock();
  const blockKey = jest
    .fn()
    .mockResolvedValueOnce(undefined)
    .mockRejectedValueOnce(new Error('The signer is not available'))
    .mockResolvedValue(undefined);
  const keys = ['first', 'second'];
  await scheduleBlockedKeys({
    authority: { blockKey },
    blockedKeys: { list: async () => keys },
    logger,
    scheduler,
  });
  const [[{ fn }]] = scheduler.scheduleTask.mock.calls;
  const { signal } = new AbortController();
  const run = () => (fn as (signal: AbortSignal) => Promise<void>)(signal);

  await run();
  expect(logger.warn).toHaveBeenCalledWith(
    'Blocked keys were not reported to the CA: Error: The signer is not available',
  );
  keys.push('third');
  await run();
  await run();
  expect(
    blockKey.mock.calls.map(([{ publicKeySha256 }]) => publicKeySha256),
  ).toEqual(['first', 'second', 'second', 'third']);
});
