import type { LoggerService } from '@backstage/backend-plugin-api';
import { NotImplementedError, isError } from '@backstage/errors';
import {
  type AuthProviderRouteHandlers,
  type AuthResolverContext,
  type SignInResolver,
  prepareBackstageIdentityResponse,
} from '@backstage/plugin-auth-node';
import type { KerberosService } from '@directory-gateway/kerberos';
import type { Request, Response } from 'express';
import {
  type Principal,
  SignInRefusal,
  type SignInRefusalReason,
  parsePrincipal,
} from './Principal';
import { metrics } from '@opentelemetry/api';

/**
 * Counts sign-ins and renewals by their outcome and, of refusals, their reason;
 * never by a name.
 */
export class SignInMetrics {
  readonly #count = metrics
    .getMeter('directory-gateway.kerberos-sign-in')
    .createCounter('kerberos.sign_in.count', {
      description: 'Sign-ins and renewals with a Kerberos ticket',
      unit: '{sign_in}',
    });

  record(outcome: SignInOutcome): void {
    this.#count.add(1, { ...outcome });
  }
}

/** After these a client may have a better answer to the same question. */
const CHALLENGED = new Set<SignInRefusalReason>(['no_credentials', 'replayed']);

/** When a directory or a keytab that is away is worth another question. */
const RETRY_AFTER_SECONDS = 5;

/**
 * `/api/auth/kerberos/refresh`: a ticket for an identity of the portal. There
 * is no session to start or to end here; the browser has its ticket.
 *
 * The stock handlers for proxies have no response to write headers to, and a
 * challenge (RFC 4559 §4) is a header.
 */
export class KerberosRouteHandlers implements AuthProviderRouteHandlers {
  readonly #kerberos: KerberosService;
  readonly #signInResolver: SignInResolver<Principal>;
  readonly #resolverContext: AuthResolverContext;
  readonly #isOriginAllowed: (origin: string) => boolean;
  readonly #logger: LoggerService;
  readonly #metrics = new SignInMetrics();

  constructor(options: {
    readonly kerberos: KerberosService;
    readonly signInResolver: SignInResolver<Principal>;
    readonly resolverContext: AuthResolverContext;
    readonly isOriginAllowed: (origin: string) => boolean;
    readonly logger: LoggerService;
  }) {
    this.#kerberos = options.kerberos;
    this.#signInResolver = options.signInResolver;
    this.#resolverContext = options.resolverContext;
    this.#isOriginAllowed = options.isOriginAllowed;
    this.#logger = options.logger;
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
    const result = await this.#kerberos.accept(
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
        this.#fail(result, res);
    }
  }

  /**
   * A browser sends its ticket to whoever makes it ask, an image on a foreign
   * page too; only a script can set the header, and a foreign script has to ask
   * before (CORS).
   */
  #isOwnPage(req: Request): boolean {
    const { origin } = req.headers;
    return (
      req.headers['x-requested-with'] !== undefined &&
      (origin === undefined || this.#isOriginAllowed(origin))
    );
  }

  async #signIn(
    accepted: { principal: string; replyToken?: string },
    res: Response,
  ): Promise<void> {
    const { replyToken } = accepted;
    try {
      const principal = parsePrincipal(accepted.principal);
      const profile = { displayName: principal.name };
      const signedIn = await this.#signInResolver(
        { profile, result: principal },
        this.#resolverContext,
      );
      const backstageIdentity = prepareBackstageIdentityResponse(signedIn);
      // The proof that this is the portal (RFC 4559 §5) goes with success only:
      // in a 401 a browser would take it for another question.
      if (replyToken) {
        res.set('WWW-Authenticate', `Negotiate ${replyToken}`);
      }
      this.#metrics.record({ outcome: 'signed_in' });
      res.json({ providerInfo: {}, profile, backstageIdentity });
    } catch (error) {
      this.#explain(error, res);
    }
  }

  #explain(error: unknown, res: Response): void {
    if (error instanceof SignInRefusal) {
      this.#refuse(error, res);
      return;
    }
    if (isError(error) && error.name === 'ServiceUnavailableError') {
      this.#fail(
        { message: 'The directory is unavailable at the moment.' },
        res,
      );
      return;
    }
    if (isError(error) && error.name === 'ConflictError') {
      this.#logger.warn(
        'Several trusted users of the catalog are annotated with the same Kerberos principal: it cannot sign in',
      );
      this.#refuse(new SignInRefusal('unknown_principal'), res);
      return;
    }
    this.#metrics.record({ outcome: 'failed' });
    throw error;
  }

  #refuse(
    refusal: { reason: SignInRefusalReason; message: string },
    res: Response,
  ): void {
    const { reason, message } = refusal;
    this.#metrics.record({ outcome: 'refused', reason });
    this.#logger.debug(`Refused a sign-in: ${reason}`);
    if (CHALLENGED.has(reason)) {
      res.set('WWW-Authenticate', 'Negotiate');
    }
    res.status(401).json({ message, reason });
  }

  #fail({ message }: { message: string }, res: Response): void {
    this.#metrics.record({ outcome: 'failed' });
    res
      .status(503)
      .set('Retry-After', `${RETRY_AFTER_SECONDS}`)
      .json({ message, reason: 'unavailable' });
  }
}

/**
 * Stands in for a provider whose configuration is wrong. Thrown at start, the
 * mistake would take the other ways in with it.
 */
export class MisconfiguredRouteHandlers implements AuthProviderRouteHandlers {
  async start(_req: Request, res: Response): Promise<void> {
    this.#answer(res);
  }

  async frameHandler(_req: Request, res: Response): Promise<void> {
    this.#answer(res);
  }

  async refresh(_req: Request, res: Response): Promise<void> {
    this.#answer(res);
  }

  #answer(res: Response): void {
    res.status(503).json({
      message:
        'Sign-in with Kerberos is misconfigured; the log of the portal says how.',
      reason: 'misconfigured',
    });
  }
}

/** How a request to sign in ended. */
export type SignInOutcome =
  | { readonly outcome: 'signed_in' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'failed' };
