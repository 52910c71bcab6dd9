import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mockServices } from '@backstage/backend-test-utils';
import { acceptSecurityContext } from './acceptSecurityContext';
import { SpnegoAcceptor } from './SpnegoAcceptor';

jest.mock('./acceptSecurityContext');

describe('SpnegoAcceptor', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'acceptor-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('refuses a valid token when the keytab was deleted during its evaluation', async () => {
    const keytab = join(folder, 'http.keytab');
    await writeFile(keytab, '', { mode: 0o600 });
    const logger = mockServices.logger.mock();
    const acceptor = await SpnegoAcceptor.create({
      keytab,
      realm: undefined,
      realms: [],
      logger,
    });
    await rm(keytab);
    jest.mocked(acceptSecurityContext).mockResolvedValue({
      state: 'established',
      principal: 'alice@EXAMPLE.TEST',
      service: 'HTTP/localhost@EXAMPLE.TEST',
    });
    expect(await acceptor.accept('Negotiate YWJj')).toMatchObject({
      outcome: 'refused',
      reason: 'realm_refused',
    });
    expect(logger.error).not.toHaveBeenCalled();
  });
});
