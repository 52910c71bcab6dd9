import type { LoggerService } from '@backstage/backend-plugin-api';
import { NotImplementedError, isError } from '@backstage/errors';
import {
  type AuthProviderRouteHandlers,
  type AuthResolverContext,
  type SignInResolver,
  prepareBackstageIdentityResponse,
} from '@backstage/plugin-auth-node';
import type { KerberosService } from '@directory-gateway/kerberos';
import { type Attributes, metrics } from '@opentelemetry/api';
import type { Request, Response } from 'express';
import {
  type UserPrincipal,
  SignInRefusal,
  type SignInRefusalReason,
  parsePrincipal,
} from './UserPrincipal';

/** Reasons after which a client may retry with another token. */
const CHALLENGED = new Set<SignInRefusalReason>(['no_credentials', 'replayed']);

/**
 * `Retry-After` while the directory or the keytab is unavailable, in seconds.
 */
const RETRY_AFTER_SECONDS = 5;

interface RouteHandlerOptions {
  readonly kerberos: KerberosService;
  readonly signInResolver: SignInResolver<UserPrincipal>;
  readonly resolverContext: AuthResolverContext;
  readonly isOriginAllowed: (origin: string) => boolean;
  readonly logger: LoggerService;
}

/**
 * Handles `/api/auth/kerberos/refresh`: returns a portal identity for a
 * Kerberos ticket. There is no session: the browser keeps the ticket.
 *
 * Backstage's proxy handlers cannot set headers, but a challenge (RFC 4559 §4)
 * is a header.
 */
export class KerberosRouteHandlers implements AuthProviderRouteHandlers {
  readonly #options: RouteHandlerOptions;
  /** Counter of sign-ins, without names in its attributes. */
  readonly #signIns = metrics
    .getMeter('directory-gateway.kerberos-sign-in')
    .createCounter<Attributes>('kerberos.sign_in.count', {
      description: 'Sign-ins and renewals with a Kerberos ticket',
      unit: '{sign_in}',
    });

  constructor(options: RouteHandlerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    throw new NotImplementedError('Kerberos sign-in does not use a pop-up');
  }

  async frameHandler(): Promise<void> {
    throw new NotImplementedError('Kerberos sign-in does not use a pop-up');
  }

  async refresh(req: Request, res: Response): Promise<void> {
    res.set('Cache-Control', 'no-store');
    if (!this.#isOwnPage(req)) {
      res.status(403).json({
        message: 'Send the header X-Requested-With from a page of the portal.',
      });
      return;
    }
    const result = await this.#options.kerberos.accept(
      req.headersDistinct.authorization,
    );
    switch (result.outcome) {
      case 'accepted':
        await this.#signIn(result, res);
        return;
      case 'refused':
        this.#refuse(result, res);
        return;
      default:
        this.#fail(result.message, res);
    }
  }

  /**
   * Whether a request comes from a page of the portal. Browsers send tickets
   * with any request, even for an image on a foreign page. Only a script can
   * set the header, and foreign scripts require the permission of the server
   * (CORS).
   */
  #isOwnPage(req: Request): boolean {
    const { origin } = req.headers;
    return (
      req.headers['x-requested-with'] !== undefined &&
      (origin === undefined || this.#options.isOriginAllowed(origin))
    );
  }

  async #signIn(
    accepted: { principal: string; replyToken?: string },
    res: Response,
  ): Promise<void> {
    const { signInResolver, resolverContext } = this.#options;
    try {
      const principal = parsePrincipal(accepted.principal);
      const profile = { displayName: principal.name };
      const backstageIdentity = prepareBackstageIdentityResponse(
        await signInResolver({ profile, result: principal }, resolverContext),
      );
      // Mutual authentication (RFC 4559 §5), only on success: a browser would
      // interpret the header in a 401 response as a challenge.
      if (accepted.replyToken) {
        res.set('WWW-Authenticate', `Negotiate ${accepted.replyToken}`);
      }
      this.#signIns.add(1, { outcome: 'signed_in' });
      res.json({ providerInfo: {}, profile, backstageIdentity });
    } catch (error) {
      this.#handleError(error, res);
    }
  }

  #handleError(error: unknown, res: Response): void {
    if (error instanceof SignInRefusal) {
      this.#refuse(error, res);
    } else if (isError(error) && error.name === 'ServiceUnavailableError') {
      this.#fail('The directory is currently unavailable.', res);
    } else if (isError(error) && error.name === 'ConflictError') {
      this.#options.logger.warn(
        'Several trusted catalog users are annotated with the same Kerberos principal, which therefore cannot sign in',
      );
      this.#refuse(new SignInRefusal('unknown_principal'), res);
    } else {
      this.#signIns.add(1, { outcome: 'failed' });
      throw error;
    }
  }

  #refuse(
    refusal: { reason: SignInRefusalReason; message: string },
    res: Response,
  ): void {
    const { reason, message } = refusal;
    this.#signIns.add(1, { outcome: 'refused', reason });
    this.#options.logger.debug(`Refused a sign-in: ${reason}`);
    if (CHALLENGED.has(reason)) {
      res.set('WWW-Authenticate', 'Negotiate');
    }
    res.status(401).json({ message, reason });
  }

  #fail(message: string, res: Response): void {
    this.#signIns.add(1, { outcome: 'failed' });
    res
      .status(503)
      .set('Retry-After', `${RETRY_AFTER_SECONDS}`)
      .json({ message, reason: 'unavailable' });
  }
}
