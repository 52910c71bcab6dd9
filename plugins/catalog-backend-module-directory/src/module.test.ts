import { mockServices } from '@backstage/backend-test-utils';
import { stopProvider } from './module';

describe('stopProvider', () => {
  it('queries the database after the provider has stopped', async () => {
    const calls: string[] = [];
    const provider = { stop: async () => void calls.push('stop') };
    const raw = async () => void calls.push('query');
    const database = mockServices.database.mock({
      getClient: jest.fn().mockResolvedValue({ raw }),
    });
    await stopProvider(provider, database);
    expect(calls).toEqual(['stop', 'query']);
  });
});
