import { ConfigReader } from '@backstage/config';
import { readKerberosConfig } from './readKerberosConfig';

const read = (kerberos?: object) =>
  readKerberosConfig(new ConfigReader(kerberos ? { kerberos } : {}));

describe('readKerberosConfig', () => {
  it('returns a default for every key', () => {
    expect(read()).toEqual({ realms: [] });
  });

  it('reads every key into a frozen object', () => {
    const config = read({
      keytab: '/etc/portal/./http.keytab',
      realm: 'EXAMPLE.TEST',
      realms: ['A.TEST', 'B.TEST'],
    });
    expect(config).toEqual({
      keytab: '/etc/portal/http.keytab',
      realm: 'EXAMPLE.TEST',
      realms: ['A.TEST', 'B.TEST'],
    });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.realms)).toBe(true);
  });

  it.each([
    ['keytab', 'http.keytab'],
    ['keytab', 'FILE:/etc/krb5.keytab'],
    ['keytab', 7],
    ['realm', 'alice@A.TEST'],
    ['realm', ''],
    ['realms', 'A.TEST'],
    ['realms', ['alice@A.TEST']],
    ['realms', ['A.TEST ']],
    ['realms', ['']],
  ])('throws an error that names kerberos.%s when it is %p', (key, value) => {
    expect(() => read({ [key]: value })).toThrow(
      new RegExp(`kerberos\\.${key}`),
    );
  });
});
