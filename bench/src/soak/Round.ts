import type { ComparedAnswer } from './ComparedAnswer';
import type { Truth } from './LdapTruth';

/** Whom a question is put to. */
export interface Asked {
  readonly copy: () => Promise<ComparedAnswer>;
  readonly direct: () => Promise<ComparedAnswer>;
  /** LDAP itself, as `LdapTruth` asks it. */
  readonly ldap: {
    readonly lastUsn: () => Promise<string>;
    readonly ask: () => Promise<Truth | undefined>;
    readonly recall: (usn: string) => Promise<Truth | undefined>;
  };
}

/** A write, by `performance.now()`. */
export interface Write {
  readonly beganAt: number;
  /** When its answer came; `undefined` while it has not. */
  readonly endedAt: number | undefined;
}

/** Whoever writes to the directory, and nobody else does. */
export interface Writing {
  readonly lastWrite: Write;
  /** Does something while nothing is being written. */
  whileHeld<T>(work: () => Promise<T>): Promise<T>;
}

/** The answers of both, one after the other. */
export interface Round {
  /** The number of the directory's last write before. */
  readonly usn: string;
  /** When the copy was asked, by `performance.now()`. */
  readonly askedAt: number;
  /** The last write by then. */
  readonly lastWrite: Write;
  readonly copy: ComparedAnswer;
  readonly direct: ComparedAnswer;
}

/** What is written shows within this time after its answer. */
export const SHOWS_MS = 1000;

/** Asks the copy, and then direct reads. */
export async function askBoth(asked: Asked, writer: Writing): Promise<Round> {
  const usn = await asked.ldap.lastUsn();
  const { lastWrite } = writer;
  const askedAt = performance.now();
  const copy = await asked.copy();
  return { usn, askedAt, lastWrite, copy, direct: await asked.direct() };
}

/** Whether all that was written by now had to show when the copy was asked. */
export function isQuiet({ askedAt }: Round, { lastWrite }: Writing): boolean {
  const { endedAt = Infinity } = lastWrite;
  return askedAt - endedAt > SHOWS_MS;
}

export function isSame(one: ComparedAnswer, other: ComparedAnswer): boolean {
  return one.status === other.status && one.text === other.text;
}
