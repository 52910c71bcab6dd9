import { claimClientEnvironment } from './KerberosLogin';

const claim = (env: NodeJS.ProcessEnv) => {
  claimClientEnvironment({ keytab: '/etc/portal/ipa.keytab', env });
  return env;
};

describe('claimClientEnvironment', () => {
  it('names the keytab, and a cache that is never written to a disk', () => {
    expect(claim({})).toEqual({
      KRB5_CLIENT_KTNAME: 'FILE:/etc/portal/ipa.keytab',
      KRB5CCNAME: 'MEMORY:directory-freeipa-ca',
    });
  });

  it("leaves the acceptor's keytab alone", () => {
    const env = claim({ KRB5_KTNAME: 'FILE:/etc/portal/http.keytab' });
    expect(env.KRB5_KTNAME).toBe('FILE:/etc/portal/http.keytab');
  });

  it('may be called twice, and keeps a cache that is named already', () => {
    const env = { KRB5CCNAME: 'FILE:/run/portal/tickets' };
    expect(claim(claim(env))).toEqual({
      KRB5_CLIENT_KTNAME: 'FILE:/etc/portal/ipa.keytab',
      KRB5CCNAME: 'FILE:/run/portal/tickets',
    });
  });

  it('refuses to take the keytab of others', () => {
    expect(() => claim({ KRB5_CLIENT_KTNAME: '/etc/other.keytab' })).toThrow(
      'KRB5_CLIENT_KTNAME',
    );
  });
});
