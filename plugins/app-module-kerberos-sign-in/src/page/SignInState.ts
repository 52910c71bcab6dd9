import type { SignInProblem } from '../session/SignInError';

/** Where somebody is on the way in. */
export type SignInState =
  /** Nothing was asked yet: the site wants a click first. */
  | { readonly kind: 'ready' }
  /** This tab's person signed out. */
  | { readonly kind: 'signedOut' }
  /** The server has been asked. */
  | {
      readonly kind: 'signingIn';
      /** Of the page's own accord: with a ticket, nobody shall see it. */
      readonly silently: boolean;
      /** What went wrong before, to stay in view until there is an answer. */
      readonly after?: SignInProblem;
    }
  | { readonly kind: 'failed'; readonly problem: SignInProblem };
