/**
 * Why a caller is refused. A subset of the `reason` values of the gateway's 401 bodies: those that
 * follow from the token alone, without a directory.
 *
 * - `no_credentials`: no `Authorization` header, or another scheme
 * - `ntlm_refused`: the client fell back to NTLM, so it has no ticket for this server
 * - `clock_skew`: the ticket is not valid at this server's time
 * - `unknown_service_key`: the ticket is for a service or key that is not in the keytab
 * - `replayed`: the same token was presented before (RFC 4120 §3.2.3)
 * - `realm_refused`: a valid ticket of a realm that is not accepted, or an anonymous one
 * - `malformed_token`: not exactly one well-formed Negotiate token
 * - `token_too_large`: larger than 64 KiB
 * - `continuation_required`: the client requires another round trip; only one is supported
 *
 * @public
 */
export type KerberosRefusalReason =
  | 'no_credentials'
  | 'ntlm_refused'
  | 'clock_skew'
  | 'unknown_service_key'
  | 'replayed'
  | 'realm_refused'
  | 'malformed_token'
  | 'token_too_large'
  | 'continuation_required';

/**
 * The token is valid.
 *
 * @public
 */
export interface KerberosAccepted {
  /** Discriminates {@link KerberosResult}. */
  outcome: 'accepted';
  /**
   * The client's principal in the format of the Kerberos library: `alice@EXAMPLE.TEST`,
   * `host/build1.example.test@EXAMPLE.TEST`. Special characters are escaped with a backslash.
   */
  principal: string;
  /**
   * Base64 token for the response header `WWW-Authenticate: Negotiate <token>`:
   * proves to the client that the server has the service key (RFC 4559 §5).
   * Absent unless the client requested it.
   */
  replyToken?: string;
}

/**
 * The caller is not authenticated: respond with 401.
 *
 * @public
 */
export interface KerberosRefused {
  /** Discriminates {@link KerberosResult}. */
  outcome: 'refused';
  /** For clients and metrics. */
  reason: KerberosRefusalReason;
  /** A sentence for the caller. Contains no principal, key, path or host. */
  message: string;
}

/**
 * This server cannot verify tokens (no usable keytab, no replay cache …): respond with 503. The cause
 * is logged.
 *
 * @public
 */
export interface KerberosUnavailable {
  /** Discriminates {@link KerberosResult}. */
  outcome: 'unavailable';
  /** A sentence for the caller. Contains no path or host. */
  message: string;
}

/**
 * The result for an `Authorization` header.
 *
 * @public
 */
export type KerberosResult =
  KerberosAccepted | KerberosRefused | KerberosUnavailable;

/**
 * Authenticates callers by Kerberos.
 *
 * @public
 */
export interface KerberosService {
  /**
   * Verifies the credentials of a request. A token can be used once; the second call returns
   * `replayed`.
   *
   * Supports the `Negotiate` scheme only; a caller that also accepts `Bearer` handles it first.
   *
   * @param authorizationHeader - the raw header value or values, `undefined`
   *   when absent. Node.js keeps only the first of several values in
   *   `req.headers`: pass `req.headersDistinct.authorization`.
   * @returns never rejects
   */
  accept(
    authorizationHeader: string | readonly string[] | undefined,
  ): Promise<KerberosResult>;
}

/** Messages for the caller: what failed and, if possible, what to do. */
export const refusalMessages = {
  no_credentials:
    'No Kerberos ticket was sent: get one, then send it with Negotiate authentication.',
  ntlm_refused:
    'NTLM is not accepted: the client has no Kerberos ticket for this server.',
  clock_skew:
    "The ticket is not valid at this server's time: check the client's clock and get a new ticket.",
  unknown_service_key:
    'The ticket is for another service, or for a key that is no longer used: get a new one.',
  replayed:
    'This token was used before: try again; the client then sends a new token. If this persists, a proxy repeats requests.',
  realm_refused:
    'The ticket is valid, but tickets of its realm are not accepted here.',
  malformed_token:
    'The Authorization header does not contain exactly one well-formed Negotiate token.',
  token_too_large: 'The token is larger than this server accepts.',
  continuation_required:
    'The client requires another round of negotiation: send a Kerberos token that needs only one.',
} satisfies Readonly<Record<KerberosRefusalReason, string>>;
