import type {
  ExpiringQuery,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  REVOCATION_REASONS,
  type RevocationReason,
} from '@directory-gateway/x509';
import type { RpcCommand } from './rpc/RpcCommand';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum number of results of {@link certFind}. Users have far fewer. */
export const CERT_FIND_LIMIT = 100;

/**
 * Requests a certificate (`ipaserver/plugins/cert.py`, `cert_request`). The
 * profile is always set: FreeIPA's default profile is for TLS servers.
 */
export function certRequest(
  request: Pick<SigningRequest, 'csr' | 'principal' | 'profile'>,
  cacn: string,
): RpcCommand {
  return {
    method: 'cert_request',
    args: [request.csr.toString('base64')],
    options: {
      principal: request.principal,
      profile_id: request.profile,
      cacn,
      add: false,
      all: true,
      chain: true,
      raw: false,
    },
  };
}

/** Reads a certificate of a CA (`cert_show`). */
export function certShow(serialNumber: bigint, cacn: string): RpcCommand {
  return {
    method: 'cert_show',
    args: [serialNumber.toString()],
    options: { cacn, all: true, chain: true, raw: false },
  };
}

/** Reads a certificate profile (`certprofile_show`). */
export function certprofileShow(profile: string): RpcCommand {
  return { method: 'certprofile_show', args: [profile], options: {} };
}

/** Reads a CA (`ca_show`), for which FreeIPA queries Dogtag. */
export function caShow(cacn: string): RpcCommand {
  return { method: 'ca_show', args: [cacn], options: {} };
}

/** Revokes a certificate of a CA, or puts it on hold (`cert_revoke`). */
export function certRevoke(
  options: { readonly serialNumber: bigint; readonly reason: RevocationReason },
  cacn: string,
): RpcCommand {
  return {
    method: 'cert_revoke',
    args: [options.serialNumber.toString()],
    options: { cacn, revocation_reason: REVOCATION_REASONS[options.reason] },
  };
}

/** Ends the hold of a certificate of a CA (`cert_remove_hold`). */
export function certRemoveHold(serialNumber: bigint, cacn: string): RpcCommand {
  return {
    method: 'cert_remove_hold',
    args: [serialNumber.toString()],
    options: { cacn },
  };
}

/** Reads a user with the groups of the user (`user_show`). */
export function userShow(username: string): RpcCommand {
  return { method: 'user_show', args: [username], options: { all: false } };
}

/**
 * Searches for certificates that have a user name as CN and were issued since a
 * given time (`cert_find`). Returns complete certificates with their chains
 * (`all`).
 *
 * Dogtag searches by date, which FreeIPA interprets as midnight in its own time
 * zone: therefore the date is one day earlier. `cacn` is not sent, because
 * FreeIPA passes it to Dogtag as a distinguished name under a key that differs
 * between versions; the results name their CA. With these options, FreeIPA
 * queries the CA rather than the directory, and therefore also finds
 * certificates that their profile does not store in the owner's entry.
 */
export function certFind(options: {
  readonly username: string;
  readonly since: Date;
}): RpcCommand {
  return {
    method: 'cert_find',
    args: [],
    options: {
      subject: options.username,
      exactly: true,
      issuedon_from: dateOf(options.since.getTime() - DAY_MS),
      all: true,
      raw: false,
      sizelimit: CERT_FIND_LIMIT,
    },
  };
}

/**
 * Searches for certificates by the end of their validity and, if a user name is
 * given, by the CN of their subject. Does not use `all`, with which FreeIPA
 * would read each certificate from Dogtag.
 *
 * The interval is extended by a day at both ends, as in {@link certFind}.
 */
export function certFindExpiring({
  from,
  before,
  username,
}: ExpiringQuery): RpcCommand {
  return {
    method: 'cert_find',
    args: [],
    options: {
      validnotafter_from: dateOf(from.getTime() - DAY_MS),
      ...(before && { validnotafter_to: dateOf(before.getTime() + DAY_MS) }),
      ...(username !== undefined && { subject: username, exactly: true }),
      all: false,
      raw: false,
      sizelimit: 0,
    },
  };
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
