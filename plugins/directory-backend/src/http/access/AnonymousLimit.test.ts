import { AnonymousLimit } from './AnonymousLimit';

const fails = () => Promise.reject(new Error('failed'));

describe('AnonymousLimit', () => {
  it.each([
    ['2001:db8::1', '2001:db8:0:0:9:8:7:6', true],
    ['2001:DB8:0::1', '2001:db8::ffff:1', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['2001:db8::1:2:3:4', '2001:db8:0:0:5::', true],
    ['::1', '::2', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    ['192.0.2.1', '192.0.2.2', false],
  ])('counts the failures of %s and %s together: %s', async (a, b, same) => {
    const limit = new AnonymousLimit();
    for (let n = 0; n < 30; n++) {
      await expect(limit.run(a, fails)).rejects.toThrow('failed');
    }
    const outcome = await limit
      .run(b, async () => 'done')
      .catch(error => error.status);
    expect(outcome).toBe(same ? 429 : 'done');
  });
});
