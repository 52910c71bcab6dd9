/** An answer that is a file, sent while it is made. */
export class FileStream {
  /** Sent as it is, for example `text/csv; charset=utf-8`. */
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Made as it is asked for; an error ends it before its proper end. */
  readonly chunks: AsyncIterable<string | Buffer>;

  constructor(options: {
    readonly contentType: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly chunks: AsyncIterable<string | Buffer>;
  }) {
    this.contentType = options.contentType;
    this.headers = options.headers;
    this.chunks = options.chunks;
  }
}
