import type {
  BackstageCredentials,
  BackstageServicePrincipal,
  BackstageUserPrincipal,
} from '@backstage/backend-plugin-api';
import type { RequestContext } from './Directory';
import type { VerifiedPrincipal } from './Principal';

/**
 * Who sends a request. Created by `http/authenticate.ts` only.
 *
 * - `kerberos`: the holder of a ticket or of a session cookie
 * - `portalUser`: a signed-in user of the portal; `account` is the directory
 *   user behind it where `directory.portalUsers` maps one
 * - `portalService`: another backend plugin or an external access token,
 *   without a directory identity
 */
export type Caller = {
  /**
   * The client; `ip` is `undefined` when it is not known. Express computes `ip`
   * each time it is read, so only audit events read it.
   */
  readonly client?: { readonly ip?: string };
} & (
  | {
      readonly kind: 'kerberos';
      /** With its realm, for example `alice@EXAMPLE.TEST`. */
      readonly principal: string;
      readonly credential: 'ticket' | 'session';
      readonly account: VerifiedPrincipal;
    }
  | {
      readonly kind: 'portalUser';
      readonly credentials: BackstageCredentials<BackstageUserPrincipal>;
      readonly account?: VerifiedPrincipal;
    }
  | {
      readonly kind: 'portalService';
      readonly credentials: BackstageCredentials<BackstageServicePrincipal>;
      readonly account?: undefined;
    }
);

/** Context of a request that was authenticated. */
export interface CallerContext extends RequestContext {
  readonly caller: Caller;
}

/**
 * The unique name of a caller: a principal with its realm, an entity
 * reference, or a service's subject such as `plugin:catalog`.
 */
export function actorOf(caller: Caller): string {
  switch (caller.kind) {
    case 'kerberos':
      return caller.principal;
    case 'portalUser':
      return caller.credentials.principal.userEntityRef;
    default:
      return caller.credentials.principal.subject;
  }
}

/** What an audit event says about a caller. */
export function auditedCaller(caller: Caller): Record<string, string> {
  const account = caller.account?.username ?? caller.account?.service;
  return {
    actor: actorOf(caller),
    credential: credentialOf(caller),
    ...(account !== undefined && { account }),
    address: caller.client?.ip ?? 'unknown',
  };
}

function credentialOf(caller: Caller): string {
  switch (caller.kind) {
    case 'kerberos':
      return caller.credential;
    case 'portalUser':
      return 'portalToken';
    default:
      return 'serviceToken';
  }
}
