import type {
  AuthService,
  BackstageCredentials,
  HttpAuthService,
} from '@backstage/backend-plugin-api';
import { isError, NotAllowedError } from '@backstage/errors';
import type { KerberosService } from '@directory-gateway/kerberos';
import type { Request, Response } from 'express';
import type { Accounts } from '../../directory/Accounts';
import type { Caller } from '../../directory/Caller';
import { isExpired, type VerifiedPrincipal } from '../../directory/Principal';
import type { PortalUserNames } from '../../directory/PortalUserNames';
import { UnauthorizedError, UnavailableError } from '../response/apiErrors';
import type { Sessions } from '../session/Sessions';

const BEARER = /^bearer(?: |$)/i;

/** How Backstage says that a token is not good. */
const REFUSALS = new Set(['AuthenticationError', 'NotAllowedError']);

/**
 * Who calls: the holder of a Kerberos ticket (RFC 4559), of a session that a
 * ticket began, or of a token of the portal. Runs before every route that is
 * not on the router's exact list.
 */
export class Authenticator {
  readonly #kerberos: KerberosService;
  readonly #httpAuth: HttpAuthService;
  readonly #auth: AuthService;
  readonly #accounts: Pick<Accounts, 'find'>;
  readonly #portalUserNames: PortalUserNames;
  readonly #sessions: Sessions | undefined;

  constructor(options: {
    readonly kerberos: KerberosService;
    readonly httpAuth: HttpAuthService;
    readonly auth: AuthService;
    readonly accounts: Pick<Accounts, 'find'>;
    readonly portalUserNames: PortalUserNames;
    /** `undefined`: none are given, and none accepted. */
    readonly sessions: Sessions | undefined;
  }) {
    this.#kerberos = options.kerberos;
    this.#httpAuth = options.httpAuth;
    this.#auth = options.auth;
    this.#accounts = options.accounts;
    this.#portalUserNames = options.portalUserNames;
    this.#sessions = options.sessions;
  }

  /**
   * The caller of a request, by its `Authorization` header alone where it has
   * one. Sets the mutual-authentication token on the response as soon as a
   * ticket is accepted, whatever the answer will be, and offers a session.
   *
   * @throws UnauthorizedError with the reason why the caller is nobody.
   * @throws UnavailableError when tickets cannot be accepted for now.
   */
  async authenticate(req: Request, res: Response): Promise<Caller> {
    const headers = req.headersDistinct.authorization;
    if (!headers) {
      const principal = await this.#sessions?.principalOf(req);
      if (principal !== undefined) {
        return this.#kerberosCaller(req, principal, 'session');
      }
    }
    if (headers?.length === 1 && BEARER.test(headers[0])) {
      return this.#portalCaller(req);
    }
    const result = await this.#kerberos.accept(headers);
    switch (result.outcome) {
      case 'accepted':
        if (result.replyToken) {
          res.set('WWW-Authenticate', `Negotiate ${result.replyToken}`);
        }
        return this.#ticketHolder(req, res, result.principal);
      case 'refused':
        throw new UnauthorizedError(result.reason);
      default:
        throw new UnavailableError({
          message: 'Kerberos tickets cannot be accepted for now.',
        });
    }
  }

  async #ticketHolder(
    req: Request,
    res: Response,
    principal: string,
  ): Promise<Caller> {
    const caller = await this.#kerberosCaller(req, principal, 'ticket');
    await this.#sessions?.offer(req, res, principal);
    return caller;
  }

  async #kerberosCaller(
    req: Request,
    principal: string,
    credential: 'ticket' | 'session',
  ): Promise<Caller> {
    const account = await this.#accounts.find({ principal });
    return {
      kind: 'kerberos',
      principal,
      credential,
      account: requireActive(account),
      client: req,
    };
  }

  async #portalCaller(req: Request): Promise<Caller> {
    return this.callerOf(await this.#portalCredentials(req), req);
  }

  /**
   * The caller behind credentials of the portal, also when they arrive without
   * a request to this plugin's router, as those of an action do.
   *
   * @throws UnauthorizedError when the directory user they map to has no
   *   active account.
   * @throws NotAllowedError for credentials of neither a user nor a service.
   */
  async callerOf(
    credentials: BackstageCredentials,
    client: Caller['client'],
  ): Promise<Caller> {
    if (this.#auth.isPrincipal(credentials, 'service')) {
      return { kind: 'portalService', credentials, client };
    }
    if (!this.#auth.isPrincipal(credentials, 'user')) {
      throw new NotAllowedError(
        'The credentials belong to neither a user nor a service.',
      );
    }
    const username = await this.#portalUserNames.usernameOf(
      credentials.principal,
    );
    if (username === undefined) {
      return { kind: 'portalUser', credentials, client };
    }
    const account = await this.#accounts.find({ username });
    return {
      kind: 'portalUser',
      credentials,
      account: requireActive(account),
      client,
    };
  }

  async #portalCredentials(req: Request): Promise<BackstageCredentials> {
    try {
      return await this.#httpAuth.credentials(req, {
        allow: ['user', 'service'],
      });
    } catch (error) {
      if (isError(error) && REFUSALS.has(error.name)) {
        throw new UnauthorizedError('no_credentials');
      }
      throw error;
    }
  }
}

/** A valid ticket or token does not help an account that is out of use. */
function requireActive(
  account: VerifiedPrincipal | undefined,
): VerifiedPrincipal {
  if (!account) {
    throw new UnauthorizedError('unknown_principal');
  }
  if (account.locked) {
    throw new UnauthorizedError('account_locked');
  }
  if (isExpired(account)) {
    throw new UnauthorizedError('account_expired');
  }
  return account;
}
