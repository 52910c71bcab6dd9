import type { AuthProviderRouteHandlers } from '@backstage/plugin-auth-node';
import type { Request, Response } from 'express';

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
