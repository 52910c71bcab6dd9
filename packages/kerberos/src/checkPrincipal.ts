import { KerberosRefusalReason } from './KerberosService';

/** A principal as `krb5_unparse_name` writes it: a backslash escapes `@`, `/` and itself. */
const PRINCIPAL = /^(?<name>(?:[^\\@]|\\.)+)@(?<realm>(?:[^\\@]|\\.)+)$/su;

/** The service of every ticket for a web server (RFC 4559 §4). Active Directory ignores its case. */
const WEB_SERVICE = /^HTTP\//i;

/** Names that RFC 6111 sets aside, among them `WELLKNOWN/ANONYMOUS`: they identify nobody. */
const WELL_KNOWN = /^WELLKNOWN[/:]/;

/** Whether a principal is a web server's. */
export function isWebService(principal: string): boolean {
  return WEB_SERVICE.test(principal);
}

/** The realm of a principal, `undefined` when it cannot be read. */
export function realmOf(principal: string): string | undefined {
  return PRINCIPAL.exec(principal)?.groups?.realm;
}

/**
 * Decides whether the client of a valid ticket is accepted.
 *
 * - The ticket must be for a web server. A keytab often holds other keys of the host too, and a
 *   ticket overheard on the way to one of those (NFS without privacy, say) must not log in here.
 * - The client's realm must be the portal's own, or one of `realms`: `alice@OTHER` is never alice.
 * - The key that opened the ticket must belong to the portal's own realm or to the client's. The
 *   KDC of a third realm could name any client in a ticket that it encrypts with its own key.
 *
 * @param options - `principal` and `service` as the library returns them; `realm` is the portal's
 * own realm, `undefined` when it is not known: then only the clients of `realms` are accepted
 * @returns the reason to refuse, `undefined` when there is none
 */
export function judgePrincipal(options: {
  principal: string;
  service: string;
  realm: string | undefined;
  realms: readonly string[];
}): KerberosRefusalReason | undefined {
  const { principal, service, realm, realms } = options;
  const client = PRINCIPAL.exec(principal)?.groups;
  const server = PRINCIPAL.exec(service)?.groups;
  if (!client || principal.includes('\uFFFD')) {
    // U+FFFD stands for bytes that are not UTF-8, so that two principals may have come out as one.
    return 'malformed_token';
  }
  if (!server || !isWebService(service)) {
    return 'unknown_service_key';
  }
  if (WELL_KNOWN.test(client.name) || WELL_KNOWN.test(client.realm)) {
    return 'realm_refused';
  }
  const isAccepted = client.realm === realm || realms.includes(client.realm);
  const isOpenedByTrustedKey =
    server.realm === realm || server.realm === client.realm;
  return isAccepted && isOpenedByTrustedKey ? undefined : 'realm_refused';
}
