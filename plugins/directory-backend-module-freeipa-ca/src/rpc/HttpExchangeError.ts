import { CustomErrorBase } from '@backstage/errors';

/** There is no whole answer to a request. */
export class HttpExchangeError extends CustomErrorBase {
  name = 'HttpExchangeError' as const;

  /**
   * `no`: there was no connection to send it on. `perhaps`: the other side may
   * have got it and acted on it.
   */
  readonly sent: 'no' | 'perhaps';

  constructor(message: string, options: Pick<HttpExchangeError, 'sent'>) {
    super(message);
    this.sent = options.sent;
  }
}
