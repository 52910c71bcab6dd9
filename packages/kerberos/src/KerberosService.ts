/**
 * Why a caller was not let in. A subset of the `reason` values of the gateway's 401 bodies:
 * what can be known from the ticket alone, before any directory is asked.
 *
 * - `no_credentials`: no `Authorization` header, or one of another scheme
 * - `ntlm_refused`: the client fell back to NTLM, so it has no ticket for this server
 * - `clock_skew`: the ticket is not valid at this server's time
 * - `unknown_service_key`: the ticket was made for a service or a key that the keytab does not hold
 * - `replayed`: this very token was presented before (RFC 4120 §3.2.3)
 * - `realm_refused`: a valid ticket, but of a realm that is not accepted, or of nobody in particular
 * - `malformed_token`: not exactly one well-formed Negotiate token
 * - `token_too_large`: longer than `kerberos.maxTokenBytes`
 * - `continuation_required`: the client needs another leg; HTTP requests are accepted in one
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
 * The ticket is good.
 *
 * @public
 */
export interface KerberosAccepted {
  outcome: 'accepted';
  /**
   * Who sent the ticket, exactly as the Kerberos library names it: `alice@EXAMPLE.TEST`,
   * `host/build1.example.test@EXAMPLE.TEST`. Special characters are escaped with a backslash.
   */
  principal: string;
  /**
   * Base64, for the response's `WWW-Authenticate: Negotiate <token>`: proves to the client that
   * it talks to the holder of the service key (RFC 4559 §5). Absent when the client asked for none.
   */
  replyToken?: string;
}

/**
 * The caller is at fault: answer 401.
 *
 * @public
 */
export interface KerberosRefused {
  outcome: 'refused';
  reason: KerberosRefusalReason;
  /** A sentence for the caller. Names no principal, key, path or host. */
  message: string;
}

/**
 * This server is at fault (no usable keytab, no replay cache …): answer 503. The log has the cause.
 *
 * @public
 */
export interface KerberosUnavailable {
  outcome: 'unavailable';
  /** A sentence for the caller. Names no path or host. */
  message: string;
}

/**
 * What became of one `Authorization` header.
 *
 * @public
 */
export type KerberosResult =
  | KerberosAccepted
  | KerberosRefused
  | KerberosUnavailable;

/**
 * Tells who sent a Kerberos ticket.
 *
 * @public
 */
export interface KerberosService {
  /**
   * Judges the credentials of one request. A token is good for one call: a second one with the
   * same token is `replayed`.
   *
   * Knows the `Negotiate` scheme only; a caller that also takes `Bearer` looks for it first.
   *
   * @param authorizationHeader - the raw header value or values, `undefined` when absent. Node
   * keeps only the first of several in `req.headers`: pass `req.headersDistinct.authorization`.
   * @returns never rejects, whatever the input
   */
  accept(
    authorizationHeader: string | readonly string[] | undefined,
  ): Promise<KerberosResult>;
}

/** One sentence a reason: what happened and, where there is something, what to do about it. */
export const refusalMessages: Readonly<Record<KerberosRefusalReason, string>> =
  {
    no_credentials:
      'No Kerberos ticket was sent: get one, then send it with Negotiate authentication.',
    ntlm_refused:
      'NTLM is not accepted: the client has no Kerberos ticket for this server.',
    clock_skew:
      "The ticket is not valid at this server's time: check the client's clock and get a new ticket.",
    unknown_service_key:
      'The ticket was not made for this service, or for a key that it no longer holds: get a new one.',
    replayed: 'This token was used before: every request needs a new one.',
    realm_refused:
      'The ticket is valid, but tickets of its realm are not accepted here.',
    malformed_token:
      'The Authorization header does not hold exactly one well-formed Negotiate token.',
    token_too_large: 'The token is larger than this server accepts.',
    continuation_required:
      'The client asks for another round of negotiation: send a Kerberos token that needs only one.',
  };
