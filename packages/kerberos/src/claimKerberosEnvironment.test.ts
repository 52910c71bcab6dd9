import { claimKerberosEnvironment } from './claimKerberosEnvironment';

describe('claimKerberosEnvironment', () => {
  it.each([
    ['the configured file', '/a', {}, '/a'],
    ['the file of the environment', undefined, { KRB5_KTNAME: '/b' }, '/b'],
    ['a file with its type', undefined, { KRB5_KTNAME: 'FILE:/b' }, '/b'],
    ['both when they agree', '/b', { KRB5_KTNAME: 'WRFILE:/x/../b' }, '/b'],
    ["the host's keytab", undefined, {}, '/etc/krb5.keytab'],
    ["the host's keytab", undefined, { KRB5_KTNAME: '' }, '/etc/krb5.keytab'],
  ])('uses %s', (_, keytab, env: NodeJS.ProcessEnv, path) => {
    expect(claimKerberosEnvironment({ keytab, env })).toBe(path);
    expect(env.KRB5_KTNAME).toBe(`FILE:${path}`);
  });

  it('accepts the same keytab again, but not a different one', () => {
    const env = {};
    claimKerberosEnvironment({ keytab: '/a', env });
    expect(claimKerberosEnvironment({ keytab: '/a', env })).toBe('/a');
    expect(claimKerberosEnvironment({ env })).toBe('/a');
    expect(() => claimKerberosEnvironment({ keytab: '/b', env })).toThrow(
      /kerberos\.keytab is \/b, but KRB5_KTNAME .* is \/a/,
    );
    expect(env).toEqual({ KRB5_KTNAME: 'FILE:/a' });
  });

  it('accepts only keytabs in files', () => {
    expect(() =>
      claimKerberosEnvironment({ env: { KRB5_KTNAME: 'MEMORY:x' } }),
    ).toThrow('KRB5_KTNAME is MEMORY:x');
  });

  it.each([
    { KRB5RCACHENAME: 'none:' },
    { KRB5RCACHETYPE: 'none' },
    { KRB5RCACHENAME: 'none:', KRB5_KTNAME: '/a' },
  ])('throws when the replay cache is disabled: %p', env => {
    expect(() => claimKerberosEnvironment({ env })).toThrow(/replay cache/);
  });

  it('accepts any other replay cache', () => {
    const env = { KRB5RCACHENAME: 'file2:/run/portal/rcache' };
    expect(claimKerberosEnvironment({ keytab: '/a', env })).toBe('/a');
  });
});
