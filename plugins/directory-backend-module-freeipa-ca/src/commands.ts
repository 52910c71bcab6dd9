import type {
  ExpiringQuery,
  RevocableReason,
  RevocationRequest,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { RpcCommand } from './rpc/RpcCommand';

/**
 * Asks for a certificate (`ipaserver/plugins/cert.py`, `cert_request`). The
 * profile is always named: FreeIPA's own default is one for TLS servers.
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

/** Reads a certificate of one authority (`cert_show`). */
export function certShow(serialNumber: bigint, cacn: string): RpcCommand {
  return {
    method: 'cert_show',
    args: [serialNumber.toString()],
    options: { cacn, all: true, chain: true, raw: false },
  };
}

/** Reads a certificate profile of FreeIPA by its name (`certprofile_show`). */
export function certprofileShow(profile: string): RpcCommand {
  return { method: 'certprofile_show', args: [profile], options: {} };
}

/** RFC 5280 §5.3.1. */
const REASON_CODES: Readonly<Record<RevocableReason, number>> = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
};

/** Revokes a certificate of one authority (`cert_revoke`). */
export function certRevoke(
  { serialNumber, reason }: RevocationRequest,
  cacn: string,
): RpcCommand {
  return {
    method: 'cert_revoke',
    args: [serialNumber.toString()],
    options: { cacn, revocation_reason: REASON_CODES[reason] },
  };
}

/** A user's certificates are far fewer, even of several days. */
export const CERT_FIND_LIMIT = 100;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Looks for certificates with a user's name as CN, whole and with their chain
 * (`all`), issued since a time (`cert_find`).
 *
 * Dogtag's search takes a date, and FreeIPA reads it as midnight of its own
 * time zone: it is that of a day earlier. `cacn` would go to Dogtag as a
 * distinguished name and under a key that has changed between versions; the
 * answers name their authority, so it is left out. With any of these options
 * FreeIPA asks the CA alone and not the directory, and so also finds what its
 * profile does not store with the owner.
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
 * Looks for certificates by the end of their validity, and by the CN of their
 * subject when there is a user name. Only what a list needs is told: `all`
 * would have FreeIPA fetch each certificate from Dogtag.
 *
 * The dates are a day wider on either side for the reason that
 * {@link certFind} has.
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
