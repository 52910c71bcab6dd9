import { explainConnectionError } from './doctor';

it.each([
  ['ENOTFOUND', 'its name cannot be resolved', 'correct the.servers'],
  ['ECONNREFUSED', 'it does not accept connections', 'ipactl start'],
  ['CERT_HAS_EXPIRED', 'or that of its CA, has expired', 'ipa-getcert'],
  ['CERT_NOT_YET_VALID', 'is not valid yet', 'chronyc makestep'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name', 'set the.servers'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'is not from a trusted CA', 'set the.caFile'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the TLS handshake failed', 'the port'],
])('explains %s', (code, message, fix) => {
  const cause = Object.assign(new Error('inner'), { code });
  const explained = explainConnectionError(new Error('outer', { cause }), {
    url: 'ldaps://ipa.example.test',
    urlKey: 'the.servers',
    caKey: 'the.caFile',
  });
  expect(explained.message).toMatch(/^ipa\.example\.test: /);
  expect(explained.message).toContain(`${message} (${code})`);
  expect(explained.fix).toContain(fix);
});
