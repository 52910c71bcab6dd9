import type { ComparedAnswer } from './ComparedAnswer';
import { RawAnswers } from './RawAnswers';
import type { RawEntries } from './RawEntries';
import type { SoakQuestion } from './SoakQuestion';

/** What is right, and as of which write. */
export interface Truth {
  /** As {@link RawEntries.lastUsn}. */
  readonly usn: string;
  /** `undefined` where the answer does not come from the directory. */
  readonly answer: ComparedAnswer | undefined;
}

/**
 * What LDAP itself says: all entries are read again when the directory has
 * been written to since they were read, and kept otherwise.
 */
export class LdapTruth {
  readonly #entries: RawEntries;
  readonly #realm: string;
  #known: { readonly usn: string; readonly answers: RawAnswers } | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly entries: RawEntries;
    readonly realm: string;
  }) {
    this.#entries = options.entries;
    this.#realm = options.realm;
  }

  /** The number of the last write. */
  lastUsn(): Promise<string> {
    return this.#entries.lastUsn();
  }

  /**
   * What the answer to a question must be now; `undefined` when the directory
   * was written to while it was read.
   */
  async ask(
    question: SoakQuestion,
    username: string,
  ): Promise<Truth | undefined> {
    await this.refresh();
    return this.#known && this.recall(this.#known.usn, question, username);
  }

  /** The same as of a write, if all entries are known as of it. */
  async recall(
    usn: string,
    question: SoakQuestion,
    username: string,
  ): Promise<Truth | undefined> {
    return this.#known?.usn === usn
      ? { usn, answer: await this.#known.answers.answer(question, username) }
      : undefined;
  }

  /** Reads all entries, if the directory has been written to since. */
  async refresh(): Promise<void> {
    // Whoever asks at the same time reads once.
    this.#reading = this.#reading.then(() => this.#read());
    await this.#reading;
  }

  async #read(): Promise<void> {
    const usn = await this.#entries.lastUsn();
    if (this.#known?.usn === usn) {
      return;
    }
    this.#known = undefined;
    const entries = await this.#entries.read();
    if ((await this.#entries.lastUsn()) === usn) {
      this.#known = { usn, answers: new RawAnswers(entries, this.#realm) };
    }
  }
}
