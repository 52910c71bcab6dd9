/** Why somebody is not in. */
export type SignInProblem =
  | {
      /** The server said no (401). */
      readonly kind: 'refused';
      /** The `reason` of its answer, one of a growing list. */
      readonly reason: string;
      /** Its own words. */
      readonly message: string;
      /** How far this clock is ahead of the server's; negative when behind. */
      readonly minutesAhead?: number;
    }
  | {
      /** The server cannot tell, for now. */
      readonly kind: 'unavailable';
      /** Its own words. */
      readonly message?: string;
    }
  /** There was no answer. */
  | { readonly kind: 'unreachable' };

/** A sign-in that came to nothing. */
export class SignInError extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem) {
    super('message' in problem ? problem.message : problem.kind);
    this.name = 'SignInError';
    this.problem = problem;
  }
}

/** Whatever was thrown, as a problem to show. */
export function problemOf(error: unknown): SignInProblem {
  return error instanceof SignInError
    ? error.problem
    : { kind: 'unavailable', message: undefined };
}
