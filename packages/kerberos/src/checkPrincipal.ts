import { KerberosRefusalReason } from './KerberosService';

/** A principal in the format of `krb5_unparse_name`: a backslash escapes `@`, `/` and itself. */
const PRINCIPAL = /^(?<name>(?:[^\\@]|\\.)+)@(?<realm>(?:[^\\@]|\\.)+)$/su;

/** Service of the tickets for a web server (RFC 4559 §4). Active Directory ignores its case. */
const WEB_SERVICE = /^HTTP\//i;

/**
 * Names reserved by RFC 6111, such as `WELLKNOWN/ANONYMOUS`. They do not
 * identify a client.
 */
const WELL_KNOWN = /^WELLKNOWN[/:]/;

/**
 * Whether a principal is that of a web server.
 *
 * @public
 */
export function isWebService(principal: string): boolean {
  return WEB_SERVICE.test(principal);
}

/** The realm of a principal, `undefined` when it cannot be parsed. */
export function realmOf(principal: string): string | undefined {
  return PRINCIPAL.exec(principal)?.groups?.realm;
}

/**
 * Decides whether the client of a valid ticket is accepted.
 *
 * - The ticket must be for a web server. A keytab often contains other keys of
 *   the host too, and a ticket intercepted in transit to such a service (NFS
 *   without privacy, for example) must not be usable here.
 * - The client's realm must be the portal's own, or one of `realms`: `alice@OTHER` is not alice.
 * - The key that decrypted the ticket must belong to the portal's own realm or to the client's. The
 *   KDC of a third realm could name any client in a ticket that it encrypts with its own key.
 *
 * @param options - `principal` and `service` as the library returns them;
 *   `realm` is the portal's own realm; while it is `undefined` (not known),
 *   only clients of `realms` are accepted
 * @returns the reason for a refusal, if any
 */
export function checkPrincipal(options: {
  principal: string;
  service: string;
  realm: string | undefined;
  realms: readonly string[];
}): KerberosRefusalReason | undefined {
  const { principal, service, realm, realms } = options;
  const client = PRINCIPAL.exec(principal)?.groups;
  const server = PRINCIPAL.exec(service)?.groups;
  if (!client || principal.includes('\uFFFD')) {
    // U+FFFD replaces bytes that are not UTF-8, so two principals could have the same text.
    return 'malformed_token';
  }
  if (!server || !isWebService(service)) {
    return 'unknown_service_key';
  }
  if (WELL_KNOWN.test(client.name) || WELL_KNOWN.test(client.realm)) {
    return 'realm_refused';
  }
  const isAccepted = client.realm === realm || realms.includes(client.realm);
  const hasTrustedKey = server.realm === realm || server.realm === client.realm;
  return isAccepted && hasTrustedKey ? undefined : 'realm_refused';
}
