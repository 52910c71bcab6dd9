import { claimClientEnvironment } from './login';

const claim = (env: NodeJS.ProcessEnv) => {
  claimClientEnvironment({ keytab: '/etc/portal/ipa.keytab', env });
  return env;
};

describe('claimClientEnvironment', () => {
  it('sets the keytab and an in-memory ticket cache', () => {
    expect(claim({})).toEqual({
      KRB5_CLIENT_KTNAME: 'FILE:/etc/portal/ipa.keytab',
      KRB5CCNAME: 'MEMORY:directory-freeipa-ca',
    });
  });

  it("does not change the acceptor's keytab", () => {
    const env = claim({ KRB5_KTNAME: 'FILE:/etc/portal/http.keytab' });
    expect(env.KRB5_KTNAME).toBe('FILE:/etc/portal/http.keytab');
  });

  it('can be called twice, and replaces an inherited cache', () => {
    const env = { KRB5CCNAME: 'FILE:/run/portal/tickets' };
    expect(claim(claim(env))).toEqual({
      KRB5_CLIENT_KTNAME: 'FILE:/etc/portal/ipa.keytab',
      KRB5CCNAME: 'MEMORY:directory-freeipa-ca',
    });
  });

  it('refuses to replace another client keytab', () => {
    expect(() => claim({ KRB5_CLIENT_KTNAME: '/etc/other.keytab' })).toThrow(
      'KRB5_CLIENT_KTNAME',
    );
  });
});
