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

/**
 * Decides whether the holder of a valid ticket may be taken at its name.
 *
 * - The ticket must be for a web server. A keytab often holds other keys of the host too, and a
 *   ticket overheard on the way to one of those (NFS without privacy, say) must not log in here.
 * - Its realm must be that of the service key, or one of `realms`: `alice@OTHER` is never alice.
 *
 * @param options - `principal` and `service` as the library gives them
 * @returns the reason to refuse, `undefined` when there is none
 */
export function judgePrincipal(options: {
  principal: string;
  service: string;
  realms: readonly string[];
}): KerberosRefusalReason | undefined {
  const client = PRINCIPAL.exec(options.principal)?.groups;
  const server = PRINCIPAL.exec(options.service)?.groups;
  if (!client || options.principal.includes('\uFFFD')) {
    // U+FFFD stands for bytes that are no UTF-8, so that two principals may have come out as one.
    return 'malformed_token';
  }
  if (!server || !isWebService(options.service)) {
    return 'unknown_service_key';
  }
  if (WELL_KNOWN.test(client.name) || WELL_KNOWN.test(client.realm)) {
    return 'realm_refused';
  }
  const known =
    client.realm === server.realm || options.realms.includes(client.realm);
  return known ? undefined : 'realm_refused';
}
