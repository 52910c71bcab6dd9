import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { withDatabase } from '../__testUtils__/withDatabase';
import { SigningLimitExceededError } from './errors';
import { SigningLimit } from './SigningLimit';
import { openDatabase } from '../openDatabase';

const PERIOD_MS = 60_000;

describe('SigningLimit', () => {
  const database = withDatabase();

  async function createLimit(): Promise<SigningLimit> {
    return new SigningLimit({
      database: await openDatabase(database),
      limit: { requests: 2 },
    });
  }

  async function outcomesOf(
    limit: SigningLimit,
    usernames: readonly string[],
  ): Promise<readonly string[]> {
    const results = await Promise.allSettled(
      usernames.map(name => limit.consume(holder(person(name)))),
    );
    return results.map(result =>
      result.status === 'fulfilled' ? 'permitted' : result.reason.name,
    );
  }

  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('counts concurrent requests from each caller in order', async () => {
    const limit = await createLimit();
    await expect(
      outcomesOf(limit, ['alice', 'bob', 'alice', 'alice', 'bob']),
    ).resolves.toEqual([
      'permitted',
      'permitted',
      'permitted',
      'SigningLimitExceededError',
      'permitted',
    ]);
    await expect(outcomesOf(limit, ['bob', 'carol'])).resolves.toEqual([
      'SigningLimitExceededError',
      'permitted',
    ]);
  });

  it('permits requests again when the period has passed', async () => {
    const limit = await createLimit();
    const start = Date.now();
    await outcomesOf(limit, ['alice', 'alice']);
    jest.spyOn(Date, 'now').mockReturnValue(start + PERIOD_MS - 1000);
    const refusal = await limit
      .consume(holder(person('alice')))
      .catch(error => error);
    expect(refusal).toBeInstanceOf(SigningLimitExceededError);
    expect(refusal).toMatchObject({ retryAfterMs: 1000 });
    jest.spyOn(Date, 'now').mockReturnValue(start + PERIOD_MS);
    await expect(
      outcomesOf(limit, ['alice', 'alice', 'alice']),
    ).resolves.toEqual(['permitted', 'permitted', 'SigningLimitExceededError']);
  });

  it('keeps the counts of the period when it is recreated', async () => {
    await outcomesOf(await createLimit(), ['alice', 'alice']);
    await expect(outcomesOf(await createLimit(), ['alice'])).resolves.toEqual([
      'SigningLimitExceededError',
    ]);
  });
});
