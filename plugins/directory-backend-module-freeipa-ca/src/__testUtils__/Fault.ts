/** Failure of a request to {@link FakeFreeIpa}. */
export type Fault =
  /** Responds with a status and a body that are not a result. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Whether the command is executed first. */
      readonly executed?: boolean;
    }
  /** Responds with a FreeIPA error. */
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly message: string;
      readonly executed?: boolean;
    }
  /** Responds with changed fields of the result. */
  | { readonly kind: 'change'; readonly change: Record<string, unknown> }
  /** Sends no response, or only part of it. */
  | {
      readonly kind: 'cut' | 'hang' | 'half';
      readonly executed: boolean;
      /** When the command is executed. Default: immediately. */
      readonly at?: Promise<void>;
    };

/**
 * A response, or a connection that is closed, hangs, or is closed during the
 * response.
 */
export type FakeResponse =
  | { readonly kind: 'whole' | 'half'; readonly response: Response }
  | { readonly kind: 'cut' | 'hang' };
