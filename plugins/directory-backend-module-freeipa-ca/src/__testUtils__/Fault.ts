/** What goes wrong with one request to the stand-in. */
export type Fault =
  /** It answers a status and a body that are not FreeIPA's verdict. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Whether it carries the command out first. */
      readonly carriedOut?: boolean;
    }
  /** It answers an error of FreeIPA's. */
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly message: string;
      readonly carriedOut?: boolean;
    }
  /** It answers a result with some fields changed. */
  | { readonly kind: 'change'; readonly change: Record<string, unknown> }
  /** Its answer never comes, or only in part. */
  | {
      readonly kind: 'cut' | 'hang' | 'half';
      readonly carriedOut: boolean;
      /** When it is carried out. Default: at once. */
      readonly at?: Promise<void>;
    };

/** An answer; or a connection that is cut, left hanging, or cut in the middle. */
export type FakeAnswer =
  | { readonly kind: 'whole' | 'half'; readonly response: Response }
  | { readonly kind: 'cut' | 'hang' };
