import { DerError } from '../der/DerError';
import { RefusalCode, refusalMessages } from './refusalMessages';

/** Thrown inside this package where a request is found wanting; never crosses its border. */
export class RequestRefusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode) {
    super(refusalMessages[code]);
    this.name = 'RequestRefusal';
    this.code = code;
  }
}

/** Runs a reader and refuses with the code when it meets what its grammar does not have. */
export function refuseMalformed<T>(code: RefusalCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DerError ? new RequestRefusal(code) : error;
  }
}
