import type {
  BackstageCredentials,
  HttpAuthService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import type { KerberosService } from '@directory-gateway/kerberos';
import type { Request, Response } from 'express';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Caller } from '@directory-gateway/directory-core';
import type { Callers } from '../access/Callers';
import { UnauthorizedError, UnavailableError } from '../apiErrors';
import type { Sessions } from './session/Sessions';

const BEARER = /^bearer(?: |$)/i;

/** Type of tokens issued to users, not to plugins on behalf of users. */
const USER_TOKEN = 'vnd.backstage.user';

/** Names of the errors with which Backstage refuses a token. */
const CREDENTIAL_ERRORS = new Set([
  'AuthenticationError',
  'NotAllowedError',
  // Backstage does not convert this error of jose for a plugin's token.
  'JWTInvalid',
]);

/** Options of {@link Authenticator}. */
interface AuthenticatorOptions {
  readonly kerberos: KerberosService;
  readonly httpAuth: HttpAuthService;
  readonly callers: Callers;
  readonly logger: LoggerService;
  /** `undefined` when sessions are disabled. */
  readonly sessions: Sessions | undefined;
}

/**
 * Authenticates callers by SPNEGO token (RFC 4559), session cookie or portal
 * token.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Returns the caller of a request. Cookies are ignored when the request has
   * an `Authorization` header. A response to a SPNEGO token contains a token
   * for mutual authentication, whatever its status, and may set a cookie.
   *
   * @throws UnauthorizedError with the reason.
   * @throws UnavailableError when SPNEGO tokens cannot be verified.
   */
  async authenticate(req: Request, res: Response): Promise<Caller> {
    const { callers, kerberos, sessions } = this.#options;
    const headers = req.headersDistinct.authorization;
    if (!headers) {
      const principal = await sessions?.principalOf(req);
      if (principal !== undefined) {
        return callers.withPrincipal(principal, {
          credential: 'session',
          client: req,
        });
      }
    }
    if (headers?.length === 1 && BEARER.test(headers[0])) {
      const caller = await callers.withCredentials(
        await this.#portalCredentials(req),
        req,
      );
      return caller.kind === 'portalUser'
        ? { ...caller, issuedAt: issuedAtOf(headers[0]) }
        : caller;
    }
    const result = await kerberos.accept(headers);
    switch (result.outcome) {
      case 'accepted':
        if (result.replyToken) {
          res.set('WWW-Authenticate', `Negotiate ${result.replyToken}`);
        }
        return this.#negotiate(req, res, result.principal);
      case 'refused':
        throw new UnauthorizedError(result.reason);
      default:
        throw new UnavailableError(
          'Kerberos authentication is not available. Try again later.',
        );
    }
  }

  async #negotiate(
    req: Request,
    res: Response,
    principal: string,
  ): Promise<Caller> {
    const { callers, sessions } = this.#options;
    const caller = await callers.withPrincipal(principal, {
      credential: 'ticket',
      client: req,
    });
    await sessions?.offer(req, res, principal);
    return caller;
  }

  async #portalCredentials(req: Request): Promise<BackstageCredentials> {
    try {
      return await this.#options.httpAuth.credentials(req, {
        allow: ['user', 'service'],
      });
    } catch (error) {
      if (isError(error) && CREDENTIAL_ERRORS.has(error.name)) {
        this.#options.logger.debug(`Refused a token: ${error.message}`);
        throw new UnauthorizedError('no_credentials');
      }
      throw error;
    }
  }
}

/**
 * Returns when the portal issued a verified user token; `undefined` for a token
 * that a plugin obtained on behalf of a user, which does not prove a sign-in.
 */
function issuedAtOf(authorization: string): Date | undefined {
  const token = authorization.replace(BEARER, '');
  try {
    const { iat } = decodeJwt(token);
    return decodeProtectedHeader(token).typ === USER_TOKEN && iat !== undefined
      ? new Date(iat * 1000)
      : undefined;
  } catch {
    // Not a JWT, for example a token of a mocked service.
    return undefined;
  }
}
