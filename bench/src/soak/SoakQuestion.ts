/** What a soak asks, of the copy and of the directory itself. */
export interface SoakQuestion {
  /** Below the API's own path, with its query. */
  readonly path: string;
  /** The value of `X-Fields`. Default: none. */
  readonly mask?: string;
}

/** A question, and who asks it. */
export interface SoakCall extends SoakQuestion {
  readonly username: string;
}
