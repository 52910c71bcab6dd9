import type { KeyKind, MadeRequest } from '../key/makeRequest';

/** Whose key it shall be. All of it stays while the reader goes back and forth. */
export interface KeyChoice {
  way: 'make' | 'bring';

  /** The kind of key to make. */
  kind: KeyKind;

  /** What was made; nothing yet, or a key of another kind was asked for since. */
  made: MadeRequest | undefined;

  /** What was pasted or dropped. */
  brought: string;
}

/** Before the reader has chosen anything: the way that suits most. */
export const firstChoice: KeyChoice = {
  way: 'make',
  kind: 'P-256',
  made: undefined,
  brought: '',
};

/** The request that is to be sent, once there is one. */
export function requestOf({
  way,
  made,
  brought,
}: KeyChoice): string | undefined {
  return way === 'make' ? made?.csr : brought;
}
