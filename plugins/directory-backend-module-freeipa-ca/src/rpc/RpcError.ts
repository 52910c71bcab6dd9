import { CustomErrorBase } from '@backstage/errors';

/** FreeIPA's verdict that a command failed (`ipalib/errors.py`). */
export class RpcError extends CustomErrorBase {
  name = 'RpcError' as const;

  /** For example 4001. */
  readonly code: number;
  /** FreeIPA's own words, for example `alice: user not found`. */
  readonly text: string;
  /** Origin of the server that gave it. */
  readonly server: string;

  constructor(options: {
    readonly code: number;
    readonly text: string;
    readonly server: string;
  }) {
    super(`${options.server} returned ${options.code}: ${options.text}`);
    this.code = options.code;
    this.text = options.text;
    this.server = options.server;
  }
}
