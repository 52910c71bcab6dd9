import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  DirectoryUnavailableError,
  schemaPreset,
} from '@directory-gateway/directory-core';
import { AccessVerifier } from './AccessVerifier';
import type { LdapSearcher } from './connection/LdapPool';
import { SchemaVerifier } from './SchemaVerifier';

const schema = schemaPreset('fas');

/** Returns entries with the rights granted at the time of the search. */
class FakeSearcher implements LdapSearcher {
  rights = 'rsc';

  verifyBind = async () => {};
  search: LdapSearcher['search'] = async ({ attributes }) => {
    const granted = attributes.map(name => `${name}:${this.rights}`).join(', ');
    return {
      entries: [{ dn: 'cn=one', attributeLevelRights: granted }],
      server: 'ldap://one',
    };
  };
}

function createVerifier(searcher: LdapSearcher): AccessVerifier {
  const schemaVerifier = new SchemaVerifier({ searcher, schema });
  jest.spyOn(schemaVerifier, 'require').mockResolvedValue();
  return new AccessVerifier({
    searcher,
    schemaVerifier,
    schema,
    bindDn: 'uid=portal,cn=sysaccounts,cn=etc,dc=example,dc=test',
    baseDn: 'dc=example,dc=test',
    maxAgeMs: 60_000,
    logger: new RecordingLogger(),
  });
}

describe('AccessVerifier', () => {
  it('verifies with new searches while another check is running', async () => {
    const searcher = new FakeSearcher();
    const verifier = createVerifier(searcher);
    const failures: string[] = [];
    verifier.onFailed(message => failures.push(message));
    const search = jest.spyOn(searcher, 'search');
    const required = verifier.require();
    while (search.mock.calls.length === 0) {
      await undefined;
    }
    searcher.rights = 'c';
    const verified = verifier.verifyNow();
    await expect(required).resolves.toBeUndefined();
    const failure = {
      name: 'DirectoryUnavailableError',
      reason: 'accessCheck',
    };
    await expect(verified).rejects.toMatchObject({
      ...failure,
      message: expect.stringMatching(
        /^The service account may not read and search fasIsPrivate/,
      ),
    });
    await expect(verifier.require()).rejects.toMatchObject(failure);
    expect(failures).toEqual([
      expect.stringMatching(/may not read and search fasIsPrivate/),
    ]);
  });

  it('rejects when the bind of a new connection is rejected', async () => {
    const searcher = new FakeSearcher();
    const verifier = createVerifier(searcher);
    const rejected = new DirectoryUnavailableError('rejected', {
      reason: 'refused',
    });
    jest.spyOn(searcher, 'verifyBind').mockRejectedValueOnce(rejected);
    await expect(verifier.require()).rejects.toBe(rejected);
    await expect(verifier.require()).resolves.toBeUndefined();
    expect(searcher.verifyBind).toHaveBeenCalledTimes(2);
  });
});
