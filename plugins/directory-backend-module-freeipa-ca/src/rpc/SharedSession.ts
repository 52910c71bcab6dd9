/** The session of all calls to one server: whoever comes first logs in. */
export class SharedSession {
  readonly #logIn: () => Promise<string>;
  #session: Promise<string> | undefined;

  constructor(logIn: () => Promise<string>) {
    this.#logIn = logIn;
  }

  /** The session; a new one when there is none. Failures are not kept. */
  async get(): Promise<string> {
    if (!this.#session) {
      const session = this.#logIn();
      this.#session = session;
      session.catch(() => this.#forget(session));
    }
    return await this.#session;
  }

  /** A session other than the given one, of which a call has learned the end. */
  async renew(expired: string): Promise<string> {
    const known = this.#session;
    if (known && (await known.catch(() => undefined)) === expired) {
      this.#forget(known);
    }
    return await this.get();
  }

  /** Unless somebody else has logged in by now. */
  #forget(session: Promise<string>): void {
    if (this.#session === session) {
      this.#session = undefined;
    }
  }
}
