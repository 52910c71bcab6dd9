import { KerberosRefusalReason } from './KerberosService';

/**
 * What a GSS-API status says about a failed token: the caller's fault, or `server_trouble`.
 */
export type StatusVerdict = KerberosRefusalReason | 'server_trouble';

/**
 * Minor statuses of MIT krb5, word for word (`lib/krb5/error_tables`, `lib/gssapi`). Whole texts
 * are compared, because a sender can put words of its own into some of them. The library speaks
 * English here whatever `LANG` is: Node never calls `setlocale`.
 */
const MINOR_STATUSES = new Map<string, StatusVerdict>([
  ['Request is a replay', 'replayed'],

  ['Clock skew too great', 'clock_skew'],
  ['Ticket not yet valid', 'clock_skew'],
  ['Ticket expired', 'clock_skew'],

  ['Service key not available', 'unknown_service_key'],
  ['Key version is not available', 'unknown_service_key'],
  ["The ticket isn't for us", 'unknown_service_key'],
  ['Wrong principal in request', 'unknown_service_key'],
  [
    'Key version number for principal in key table is incorrect',
    'unknown_service_key',
  ],

  ['Illegal cross-realm ticket', 'realm_refused'],

  // Decrypting the ticket with a wrong key has a text of its own, below. These are about what the
  // client wrote itself: an authenticator that its own session key does not open.
  ['Decrypt integrity check failed', 'malformed_token'],
  ['Message stream modified', 'malformed_token'],
  ['Bad encryption type', 'malformed_token'],
  ["Ticket/authenticator don't match", 'malformed_token'],
  ['Token header is malformed or corrupt', 'malformed_token'],
  // What is left of an ASN.1 error by the time that the binding asks for its text.
  ['Success', 'malformed_token'],
  ['Unknown error', 'malformed_token'],

  ['Key table entry not found', 'server_trouble'],
  // Neither is about the token: no usable key, or no usable configuration.
  ['SPNEGO cannot find mechanisms to negotiate', 'server_trouble'],
  ['Improper format of Kerberos configuration file', 'server_trouble'],
  ["Can't open/find Kerberos configuration file", 'server_trouble'],
  ['Permission denied', 'server_trouble'],
  ['Read-only file system', 'server_trouble'],
  ['No space left on device', 'server_trouble'],
  ['Disk quota exceeded', 'server_trouble'],
  ['Too many open files', 'server_trouble'],
  ['Cannot allocate memory', 'server_trouble'],
]);

/**
 * Texts that name the ticket's service (`lib/krb5/krb/rd_req_dec.c`). That name is the sender's,
 * so these are matched by how they begin, before anything is matched by how it ends.
 */
const KEY_NOT_FOUND =
  /^(?:Request ticket server |Cannot decrypt ticket for |Cannot find key |Server principal )/;

/** A key of a type that `krb5.conf` forbids: `Encryption type arcfour-hmac not permitted`. */
const TYPE_FORBIDDEN = /^Encryption type \S+ not permitted$/;

/** The replay cache's errors name its file (`lib/krb5/rcache`). */
const FILE_TROUBLE = / \(filename: [^)]*\)$/;

/**
 * Reads the text in which the `kerberos` binding reports a failure: `<major>: <minor>`. Texts are
 * all it reports.
 *
 * @returns `undefined` for a text that is not known
 */
export function interpretStatus(
  status: string,
  token: { offersNtlm: boolean },
): StatusVerdict | undefined {
  const end = status.indexOf(': ');
  const major = end < 0 ? status : status.slice(0, end);
  const minor = end < 0 ? '' : status.slice(end + 2);

  switch (major) {
    case 'Invalid token was supplied':
    case 'A token had an invalid Message Integrity Check (MIC)':
      return 'malformed_token';
    case 'An unsupported mechanism was requested':
      return token.offersNtlm ? 'ntlm_refused' : 'malformed_token';
    default:
  }
  if (KEY_NOT_FOUND.test(minor) || TYPE_FORBIDDEN.test(minor)) {
    return 'unknown_service_key';
  }
  if (FILE_TROUBLE.test(minor)) {
    return 'server_trouble';
  }
  return MINOR_STATUSES.get(minor);
}
