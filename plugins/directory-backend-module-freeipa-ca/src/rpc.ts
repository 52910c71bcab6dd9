import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * API version of the results that this module reads. Without a version, FreeIPA
 * assumes the oldest one and returns a warning.
 */
const API_VERSION = '2.251';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A JSON value. */
export type RpcValue =
  null | boolean | number | string | readonly RpcValue[] | RpcRecord;

/** A JSON object. */
export interface RpcRecord {
  readonly [key: string]: RpcValue | undefined;
}

/** A command of FreeIPA's API and its parameters. */
export interface RpcCommand {
  /** For example `cert_show`. */
  readonly method: string;
  readonly args: readonly string[];
  readonly options?: RpcRecord;
}

/** The body of a call (`ipaserver/rpcserver.py`, `jsonserver.unmarshal`). */
export function formatCall({ method, args, options }: RpcCommand): string {
  const params = [args, { ...options, version: API_VERSION }];
  return JSON.stringify({ method, params, id: 0 });
}

/** Returns whether a value is an object other than an array. */
export function isRpcRecord(value: RpcValue | undefined): value is RpcRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Requests a certificate (`ipaserver/plugins/cert.py`, `cert_request`). The
 * profile is always set: FreeIPA's default profile is for TLS servers.
 */
export function certRequest(request: SigningRequest, cacn: string): RpcCommand {
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

/** Maximum number of results of {@link certFind}. Users have far fewer. */
export const CERT_FIND_LIMIT = 100;

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
export function certFind(username: string, since: Date): RpcCommand {
  const from = new Date(since.getTime() - DAY_MS);
  return {
    method: 'cert_find',
    args: [],
    options: {
      subject: username,
      exactly: true,
      issuedon_from: from.toISOString().slice(0, 10),
      all: true,
      raw: false,
      sizelimit: CERT_FIND_LIMIT,
    },
  };
}
