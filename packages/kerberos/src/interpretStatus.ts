import { KerberosRefusalReason } from './KerberosService';

/** Whether the caller or this server is the cause of a failure. */
export type StatusResult = KerberosRefusalReason | 'server_error';

/**
 * Minor statuses of MIT krb5 (`lib/krb5/error_tables`, `lib/gssapi`). The whole text is compared,
 * because some texts contain words chosen by the sender. It is in English for every `LANG`: Node does
 * not call `setlocale`.
 */
const MINOR_STATUSES = new Map<string, StatusResult>([
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

  // These concern the client's authenticator, which cannot be decrypted with
  // the session key. A ticket that cannot be decrypted with the key causes
  // another text, see below.
  ['Decrypt integrity check failed', 'malformed_token'],
  ['Message stream modified', 'malformed_token'],
  ['Bad encryption type', 'malformed_token'],
  ["Ticket/authenticator don't match", 'malformed_token'],
  ['Token header is malformed or corrupt', 'malformed_token'],
  // The binding reads the text of an ASN.1 error too late and loses it.
  ['Success', 'malformed_token'],
  ['Unknown error', 'malformed_token'],

  ['Key table entry not found', 'server_error'],
  // Not about the token: no usable key, configuration or replay cache.
  ['SPNEGO cannot find mechanisms to negotiate', 'server_error'],
  ['Improper format of Kerberos configuration file', 'server_error'],
  ["Can't open/find Kerberos configuration file", 'server_error'],
  ['Permission denied', 'server_error'],
  ['Read-only file system', 'server_error'],
  ['No space left on device', 'server_error'],
  ['Disk quota exceeded', 'server_error'],
  ['Too many open files', 'server_error'],
  ['Cannot allocate memory', 'server_error'],
]);

/**
 * Texts with the name of the ticket's service (`lib/krb5/krb/rd_req_dec.c`). The sender chooses that
 * name, so the beginning is matched, before other texts are matched by their end.
 */
const KEY_NOT_FOUND =
  /^(?:Request ticket server |Cannot decrypt ticket for |Cannot find key |Server principal )/;

/** A key of a type that `krb5.conf` forbids: `Encryption type arcfour-hmac not permitted`. */
const TYPE_FORBIDDEN = /^Encryption type \S+ not permitted$/;

/** Errors of the replay cache contain its path (`lib/krb5/rcache`). */
const FILE_ERROR = / \(filename: [^)]*\)$/;

/**
 * Interprets the text of a failure, `<major>: <minor>`: the `kerberos` binding reports no codes.
 *
 * @returns `undefined` for an unknown text
 */
export function interpretStatus(
  status: string,
  token: { offersNtlm: boolean },
): StatusResult | undefined {
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
  if (FILE_ERROR.test(minor)) {
    return 'server_error';
  }
  return MINOR_STATUSES.get(minor);
}
