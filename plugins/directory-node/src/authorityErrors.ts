import { CustomErrorBase } from '@backstage/errors';

/**
 * The authority will not sign this request. The message is for the caller.
 *
 * @public
 */
export class AuthorityRefusalError extends CustomErrorBase {
  name = 'AuthorityRefusalError' as const;

  /**
   * `invalid`: the request is at fault (400). `forbidden`: the gateway may not
   * ask for it (403).
   */
  readonly kind: 'invalid' | 'forbidden';

  constructor(
    message: string,
    options: {
      readonly kind?: 'invalid' | 'forbidden';
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause);
    this.kind = options.kind ?? 'invalid';
  }
}

/**
 * The authority cannot be asked now: 503 for the caller. The message is for
 * the log only.
 *
 * @public
 */
export class AuthorityUnavailableError extends CustomErrorBase {
  name = 'AuthorityUnavailableError' as const;
}

/**
 * The request was sent and its answer was lost: a certificate may exist. 503
 * for the caller, who must not be told that nothing was signed. The message is
 * for the log only.
 *
 * @public
 */
export class OutcomeUnknownError extends CustomErrorBase {
  name = 'OutcomeUnknownError' as const;
}

/**
 * The authority answered something that it should not: 502 for the caller. The
 * message is for the log only.
 *
 * @public
 */
export class AuthorityProtocolError extends CustomErrorBase {
  name = 'AuthorityProtocolError' as const;
}
