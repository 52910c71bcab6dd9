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
  type Principal,
  SignInRefusal,
  type SignInRefusalReason,
  parsePrincipal,
} from './Principal';

/** Refusals after which a client may retry with another token. */
const CHALLENGED = new Set<SignInRefusalReason>(['no_credentials', 'replayed']);

/** `Retry-After` while the directory or the keytab is unavailable. */
const RETRY_AFTER_SECONDS = 5;

interface RouteHandlerOptions {
  readonly kerberos: KerberosService;
  readonly signInResolver: SignInResolver<Principal>;
  readonly resolverContext: AuthResolverContext;
  readonly isOriginAllowed: (origin: string) => boolean;
  readonly logger: LoggerService;
}

/**
 * Handles `/api/auth/kerberos/refresh`: returns a portal identity for a Kerberos
 * ticket. There is no session; the browser keeps the ticket.
 *
 * Backstage's handlers for proxies cannot set headers, and a challenge
 * (RFC 4559 §4) is a header.
 */
export class KerberosRouteHandlers implements AuthProviderRouteHandlers {
  readonly #options: RouteHandlerOptions;
  /** Never with a name. */
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
    throw new NotImplementedError('Kerberos sign-in needs no pop-up');
  }

  async frameHandler(): Promise<void> {
    throw new NotImplementedError('Kerberos sign-in needs no pop-up');
  }

  async refresh(req: Request, res: Response): Promise<void> {
    res.set('Cache-Control', 'no-store');
    if (!this.#isOwnPage(req)) {
      res.status(403).json({
        message: 'Send X-Requested-With, from a page of the portal.',
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
   * A browser sends its ticket for any request, even for an image on a foreign
   * page. Only a script can set the header, and the server must allow that to a
   * foreign script (CORS).
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
      // Mutual authentication (RFC 4559 §5), on success only: a browser would
      // take the header of a 401 for a challenge.
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
      this.#fail('The directory is unavailable at the moment.', res);
    } else if (isError(error) && error.name === 'ConflictError') {
      this.#options.logger.warn(
        'Several trusted users of the catalog are annotated with the same Kerberos principal: it cannot sign in',
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

/**
 * Returns 503 for every request. Used when the provider is misconfigured: an
 * error at start would disable the other providers too.
 */
export function misconfiguredRouteHandlers(): AuthProviderRouteHandlers {
  const handle = async (_req: Request, res: Response) => {
    res.status(503).json({
      message: 'Kerberos sign-in is misconfigured; the log has the cause.',
      reason: 'misconfigured',
    });
  };
  return { start: handle, frameHandler: handle, refresh: handle };
}
