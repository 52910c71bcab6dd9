import { mockServices } from '@backstage/backend-test-utils';
import { stopProvider } from './module';

describe('stopProvider', () => {
  const never = () => new Promise<never>(() => {});

  it('queries the database after the provider has stopped', async () => {
    const calls: string[] = [];
    const provider = { stop: async () => void calls.push('stop') };
    const raw = async () => void calls.push('query');
    const database = mockServices.database.mock({
      getClient: jest.fn().mockResolvedValue({ raw }),
    });
    await stopProvider({ provider, database, maxMs: 2 ** 31 - 1 });
    expect(calls).toEqual(['stop', 'query']);
  });

  it.each([
    ['provider', { stop: never }, async () => {}],
    ['database', { stop: async () => {} }, never],
  ])('resolves when the %s does not respond', async (_, provider, raw) => {
    const database = mockServices.database.mock({
      getClient: jest.fn().mockResolvedValue({ raw }),
    });
    await expect(
      stopProvider({ provider, database, maxMs: 1 }),
    ).resolves.toBeUndefined();
  });
});
