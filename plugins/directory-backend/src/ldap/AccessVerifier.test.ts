import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import { DirectoryUnavailableError } from '../directory/errors';
import { schemaPreset } from '../directory/schema';
import type { LdapSearcher } from './connection/LdapPool';
import { AccessVerifier } from './AccessVerifier';
import { SchemaVerifier } from './SchemaVerifier';

const schema = schemaPreset('fas');
const signal = new AbortController().signal;

/** A directory that grants what it is told to when it is asked. */
class GrantingSearcher implements LdapSearcher {
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

it('is renewed with what is asked from then on, whoever else is asking', async () => {
  const searcher = new GrantingSearcher();
  const schemaVerifier = new SchemaVerifier({ searcher, schema });
  jest.spyOn(schemaVerifier, 'require').mockResolvedValue();
  const proof = new AccessVerifier({
    searcher,
    schemaVerifier,
    schema,
    bindDn: 'uid=portal,cn=sysaccounts,cn=etc,dc=example,dc=test',
    baseDn: 'dc=example,dc=test',
    maxAgeMs: 60_000,
    logger: new RecordingLogger(),
  });

  const failures: string[] = [];
  proof.onFailed(message => failures.push(message));
  const search = jest.spyOn(searcher, 'search');
  const required = proof.require({ signal });
  while (search.mock.calls.length === 0) {
    await undefined;
  }
  searcher.rights = 'c';
  const renewed = proof.renew();
  await expect(required).resolves.toBeUndefined();
  const failure = {
    name: 'DirectoryUnavailableError',
    reason: 'accessCheck',
  };
  await expect(renewed).rejects.toMatchObject({
    ...failure,
    message: expect.stringMatching(
      /^The service account may not read and search fasIsPrivate/,
    ),
  });
  await expect(proof.require({ signal })).rejects.toMatchObject(failure);
  expect(failures).toEqual([
    expect.stringMatching(/may not read and search fasIsPrivate/),
  ]);
});

it('fails when a new connection is refused, although open ones are not', async () => {
  const searcher = new GrantingSearcher();
  const schemaVerifier = new SchemaVerifier({ searcher, schema });
  jest.spyOn(schemaVerifier, 'require').mockResolvedValue();
  const proof = new AccessVerifier({
    searcher,
    schemaVerifier,
    schema,
    bindDn: 'uid=portal,cn=sysaccounts,cn=etc,dc=example,dc=test',
    baseDn: 'dc=example,dc=test',
    maxAgeMs: 60_000,
    logger: new RecordingLogger(),
  });
  const refused = new DirectoryUnavailableError('refused', {
    reason: 'refused',
  });
  jest.spyOn(searcher, 'verifyBind').mockRejectedValueOnce(refused);
  await expect(proof.require({ signal })).rejects.toBe(refused);
  await expect(proof.require({ signal })).resolves.toBeUndefined();
  expect(searcher.verifyBind).toHaveBeenCalledTimes(2);
});
