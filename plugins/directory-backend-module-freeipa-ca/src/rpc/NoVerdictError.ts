import { CustomErrorBase } from '@backstage/errors';

/** A FreeIPA server gave no verdict on a command. */
export class NoVerdictError extends CustomErrorBase {
  name = 'NoVerdictError' as const;

  /** Origin of the server, for example `https://ipa1.example.org`. */
  readonly server: string;
  /** Whether the command may have been carried out all the same. */
  readonly executed: 'no' | 'perhaps';
  /**
   * `unavailable`: it is down, slow or out of reach. `protocol`: it answered
   * what FreeIPA should not. `credentials`: it refuses the gateway's account,
   * and every other server would, too.
   */
  readonly fault: 'unavailable' | 'protocol' | 'credentials';

  constructor(
    message: string,
    options: Pick<NoVerdictError, 'server' | 'executed' | 'fault'> & {
      readonly cause?: unknown;
    },
  ) {
    super(`${options.server}: ${message}`, options.cause);
    this.server = options.server;
    this.executed = options.executed;
    this.fault = options.fault;
  }
}
