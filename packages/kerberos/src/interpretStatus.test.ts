import fc from 'fast-check';
import { interpretStatus } from './interpretStatus';

const FAILURE =
  'Unspecified GSS failure.  Minor code may provide more information: ';
const NO_CREDENTIAL =
  'No credentials were supplied, or the credentials were unavailable or inaccessible: ';
const interpret = (status: string) =>
  interpretStatus(status, { offersNtlm: false });

describe('interpretStatus', () => {
  // As MIT krb5 1.20 reports them through the binding.
  it.each([
    [`${FAILURE}Request is a replay`, 'replayed'],
    [`${FAILURE}Clock skew too great`, 'clock_skew'],
    [`${FAILURE}Ticket not yet valid`, 'clock_skew'],
    [`${FAILURE}Ticket expired`, 'clock_skew'],
    [
      `${FAILURE}Request ticket server HTTP/x@A.TEST not found in keytab (ticket kvno 1)`,
      'unknown_service_key',
    ],
    [
      `${FAILURE}Request ticket server HTTP/x@A.TEST kvno 2 not found in keytab; ticket is likely out of date`,
      'unknown_service_key',
    ],
    [
      `${FAILURE}Request ticket server HTTP/x@A.TEST kvno 1 enctype aes256-cts found in keytab but cannot decrypt ticket`,
      'unknown_service_key',
    ],
    [
      `${FAILURE}Request ticket server HTTP/x@A.TEST kvno 1 found in keytab but not with enctype 52`,
      'unknown_service_key',
    ],
    [
      `${FAILURE}Encryption type arcfour-hmac not permitted`,
      'unknown_service_key',
    ],
    [`${FAILURE}Illegal cross-realm ticket`, 'realm_refused'],
    [`${FAILURE}Decrypt integrity check failed`, 'malformed_token'],
    [`${FAILURE}Success`, 'malformed_token'],
    ['Invalid token was supplied: Unknown error', 'malformed_token'],
    [
      'Invalid token was supplied: Token header is malformed or corrupt',
      'malformed_token',
    ],
    [
      'An unsupported mechanism was requested: SPNEGO failed to negotiate a mechanism',
      'malformed_token',
    ],
    [`${NO_CREDENTIAL}Unknown error`, 'malformed_token'],
    [`${NO_CREDENTIAL}Key table entry not found`, 'server_error'],
    [
      `${NO_CREDENTIAL}SPNEGO cannot find mechanisms to negotiate`,
      'server_error',
    ],
    [
      `${FAILURE}No such file or directory (filename: /var/tmp/krb5_0.rcache2)`,
      'server_error',
    ],
    [
      `${FAILURE}Improper format of Kerberos configuration file`,
      'server_error',
    ],
    [`${FAILURE}No space left on device`, 'server_error'],
  ])('interprets %p as %s', (status, result) => {
    expect(interpret(status)).toBe(result);
  });

  it('distinguishes NTLM from other unsupported mechanisms', () => {
    expect(
      interpretStatus('An unsupported mechanism was requested: Unknown error', {
        offersNtlm: true,
      }),
    ).toBe('ntlm_refused');
  });

  it('returns undefined when the text is not known', () => {
    expect(interpret(`${FAILURE}Unknown text`)).toBeUndefined();
    expect(interpret('')).toBeUndefined();
    expect(interpret('toString')).toBeUndefined();
  });

  it('ignores the service name, which the sender chooses', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom(
            'Request is a replay',
            ': Key table entry not found',
            'x (filename: /etc/krb5.keytab)',
            '\nClock skew too great',
          ),
        ),
        service => {
          expect(
            interpret(
              `${FAILURE}Request ticket server ${service} not found in keytab (ticket kvno 1)`,
            ),
          ).toBe('unknown_service_key');
        },
      ),
    );
  });
});
