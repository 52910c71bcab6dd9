import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { AUTHORITIES, CERTIFICATES } from '../../database/rows';
import type { CertificateRow } from '../../database/rows';
import { serialNumberOf } from '../certificateFacts';
import { aliceRequest } from '../requests';
import { TestCa } from '../TestCa';
import type { TestDatabaseKind } from '../TestDatabase';
import { AuthorityProcess, ProcessEndedError } from './AuthorityProcess';
import type { HostOptions } from './authorityHost';

/** Clients that ask at the same time. */
const CLIENTS = 8;

/** One in so many is killed while it opens the authority; the rest signs. */
const KILLED_AT_START = 5;

/** So many in a row to begin with, so that the making is killed, too. */
const FIRST_AT_START = 4;

/** Longest times until a kill, in milliseconds: opening, and signing. */
const LONGEST_OPENING_MS = 300;
const SIGNING_MS = 500;

/** What was counted. All that must not be is 0 when all is well. */
export interface CrashCounts {
  readonly kills: number;
  /** Of them while the authority was being opened. */
  readonly killsAtStart: number;
  /** Certificates that clients received. */
  readonly received: number;
  /** Requests that were killed without an answer, and sent again. */
  readonly unanswered: number;
  /** Received, and not on record byte for byte. */
  readonly lost: number;
  /** Serial numbers that two requests received. */
  readonly duplicates: number;
  /** Repetitions within a minute that got another certificate. */
  readonly changed: number;
  /** Certificates on record under another serial number than their own. */
  readonly misfiled: number;
  /** Serial numbers reserved and never used: what crashes may leave. */
  readonly reserved: number;
  /** Authorities on record. */
  readonly authorities: number;
}

/**
 * Kills the authority again and again while clients ask it, and then compares
 * what they received with what is on record.
 */
export class CrashTrial {
  readonly #ca: TestCa;
  readonly #options: HostOptions;
  readonly #received = new Map<SigningRequest, Buffer>();
  readonly #unanswered = new Set<SigningRequest>();
  #everUnanswered = 0;
  #killsAtStart = 0;
  /** Longest time until a kill that is to come before the opening ends. */
  #openingMs = LONGEST_OPENING_MS;
  #changed = 0;

  static async run(options: {
    readonly kind: TestDatabaseKind;
    readonly kills: number;
  }): Promise<CrashCounts> {
    const ca = await TestCa.start(options.kind, { tables: 'none' });
    try {
      const trial = new CrashTrial(ca);
      await trial.#killAgainAndAgain(options.kills);
      return { kills: options.kills, ...(await trial.#count()) };
    } finally {
      await ca.stop();
    }
  }

  private constructor(ca: TestCa) {
    this.#ca = ca;
    this.#options = {
      database: ca.database.config,
      embedded: { keyFile: ca.keyFile },
    };
  }

  async #killAgainAndAgain(total: number): Promise<void> {
    // The next one loads its code while this one is being tried.
    let next = AuthorityProcess.load();
    try {
      for (let kills = 1; kills <= total; kills++) {
        const current = next;
        await current.loaded();
        next = AuthorityProcess.load();
        await (kills <= FIRST_AT_START || kills % KILLED_AT_START === 0
          ? this.#killOpening(current)
          : this.#killSigning(current));
      }
      await next.start(this.#options);
      for (const request of this.#unanswered) {
        await this.#ask(next, request);
      }
    } finally {
      await next.kill();
    }
  }

  /**
   * How long the opening takes depends on the machine and on what else it does:
   * after a kill that came too late the next one comes sooner, and after one in
   * time it may come later, so that every moment of the opening has its turn.
   */
  async #killOpening(authority: AuthorityProcess): Promise<void> {
    const opened = authority.start(this.#options).then(
      () => true,
      error => isEnd(error) && false,
    );
    await sleep(randomInt(Math.ceil(this.#openingMs)));
    await authority.kill();
    if (await opened) {
      this.#openingMs = Math.max(1, this.#openingMs / 2);
    } else {
      this.#killsAtStart += 1;
      this.#openingMs = Math.min(LONGEST_OPENING_MS, this.#openingMs * 1.2);
    }
  }

  async #killSigning(authority: AuthorityProcess): Promise<void> {
    try {
      await authority.start(this.#options);
      const clients = Array.from({ length: CLIENTS }, () =>
        this.#use(authority),
      );
      await sleep(randomInt(SIGNING_MS));
      await authority.kill();
      await Promise.all(clients);
    } finally {
      await authority.kill();
    }
  }

  /** One client: asks until the authority is gone. */
  async #use(authority: AuthorityProcess): Promise<void> {
    for (;;) {
      const request = this.#nextRequest();
      if (!(await this.#ask(authority, request))) {
        return;
      }
    }
  }

  /** What has no answer is asked again first, and now and then what has one. */
  #nextRequest(): SigningRequest {
    const [unanswered] = this.#unanswered;
    if (unanswered) {
      this.#unanswered.delete(unanswered);
      return unanswered;
    }
    const last = [...this.#received.keys()].at(-1);
    return last && randomInt(10) === 0 ? last : aliceRequest();
  }

  /** @returns false when the authority is gone */
  async #ask(
    authority: AuthorityProcess,
    request: SigningRequest,
  ): Promise<boolean> {
    try {
      const certificate = await authority.sign(request);
      const before = this.#received.get(request);
      this.#changed += before && !before.equals(certificate) ? 1 : 0;
      this.#received.set(request, before ?? certificate);
      return true;
    } catch (error) {
      if (isEnd(error) && !this.#received.has(request)) {
        this.#everUnanswered += 1;
        this.#unanswered.add(request);
      }
      return false;
    }
  }

  async #count(): Promise<Omit<CrashCounts, 'kills'>> {
    const { knex } = this.#ca.database;
    const rows: CertificateRow[] = await knex(CERTIFICATES);
    const recorded = new Map(rows.map(row => [row.serial_number, row]));
    const received = [...this.#received.values()];
    const serialNumbers = received.map(certificate =>
      String(serialNumberOf({ certificate })),
    );
    const isLost = (certificate: Buffer, index: number) =>
      !recorded.get(serialNumbers[index])?.certificate?.equals(certificate);
    const isMisfiled = ({ certificate, serial_number }: CertificateRow) =>
      certificate && String(serialNumberOf({ certificate })) !== serial_number;
    return {
      killsAtStart: this.#killsAtStart,
      received: received.length,
      unanswered: this.#everUnanswered,
      lost: received.filter(isLost).length,
      duplicates: received.length - new Set(serialNumbers).size,
      changed: this.#changed,
      misfiled: rows.filter(isMisfiled).length,
      reserved: rows.filter(({ certificate }) => !certificate).length,
      authorities: (await knex(AUTHORITIES)).length,
    };
  }
}

/** @throws whatever else it is */
function isEnd(error: unknown): boolean {
  if (error instanceof ProcessEndedError) {
    return true;
  }
  throw error;
}
