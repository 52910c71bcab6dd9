import { KerberosRefusalReason } from './KerberosService';

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
