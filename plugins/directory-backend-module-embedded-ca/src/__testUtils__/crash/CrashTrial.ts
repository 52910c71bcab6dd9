import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import {
  AUTHORITIES,
  CERTIFICATES,
  type CertificateRow,
} from '../../database/rows';
import { serialNumberOf } from '../certificateFacts';
import { aliceRequest } from '../requests';
import { TestCa } from '../TestCa';
import type { TestDatabaseKind } from '../TestDatabase';
import { AuthorityProcess, ProcessEndedError } from './AuthorityProcess';
import type { HostOptions } from './authorityHost';

/** Number of concurrent clients. */
const CLIENTS = 8;

/** One process in this many is killed while it opens the CA; others while signing. */
const KILLED_AT_START = 5;

/** Number of first kills while the CA is opened, so that its generation is killed, too. */
const FIRST_AT_START = 4;

/** Maximum time until a kill in milliseconds: opening, signing. */
const LONGEST_OPENING_MS = 300;
const SIGNING_MS = 500;

/** Result of a trial. `lost`, `duplicates`, `changed` and `misfiled` must be 0. */
export interface CrashCounts {
  readonly kills: number;
  /** Kills while the CA was being opened. */
  readonly killsAtStart: number;
  /** Certificates that clients received. */
  readonly received: number;
  /** Requests without a response, which were sent again. */
  readonly unanswered: number;
  /** Received certificates that are not recorded byte for byte. */
  readonly lost: number;
  /** Serial numbers that several requests received. */
  readonly duplicates: number;
  /** Repeated requests within a minute that received another certificate. */
  readonly changed: number;
  /** Certificates that are recorded with a wrong serial number. */
  readonly misfiled: number;
  /** Reserved serial numbers without certificate, which crashes may leave. */
  readonly reserved: number;
  /** Recorded CAs. */
  readonly authorities: number;
}

/**
 * Kills the CA repeatedly while clients send requests, then compares what they
 * received with what is recorded.
 */
export class CrashTrial {
  readonly #ca: TestCa;
  readonly #options: HostOptions;
  readonly #received = new Map<SigningRequest, Buffer>();
  readonly #unanswered = new Set<SigningRequest>();
  #unansweredCount = 0;
  #killsAtStart = 0;
  /** Maximum time until a kill that comes before the CA is open. */
  #openingMs = LONGEST_OPENING_MS;
  #changed = 0;

  static async run(options: {
    readonly kind: TestDatabaseKind;
    readonly kills: number;
  }): Promise<CrashCounts> {
    const ca = await TestCa.start(options.kind, { tables: 'none' });
    try {
      const trial = new CrashTrial(ca);
      await trial.#killRepeatedly(options.kills);
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

  async #killRepeatedly(total: number): Promise<void> {
    // The next process loads its code while this one runs.
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
        await this.#sign(next, request);
      }
    } finally {
      await next.kill();
    }
  }

  /**
   * The duration of the opening depends on the machine and its load: a kill that
   * was too late makes the next one earlier, one in time makes it later, so that
   * kills are spread over the whole duration.
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

  /** One client: sends requests until the process is killed. */
  async #use(authority: AuthorityProcess): Promise<void> {
    for (;;) {
      const request = this.#nextRequest();
      if (!(await this.#sign(authority, request))) {
        return;
      }
    }
  }

  /** Repeats requests without a response first, and sometimes one with a response. */
  #nextRequest(): SigningRequest {
    const [unanswered] = this.#unanswered;
    if (unanswered) {
      this.#unanswered.delete(unanswered);
      return unanswered;
    }
    const last = [...this.#received.keys()].at(-1);
    return last && randomInt(10) === 0 ? last : aliceRequest();
  }

  /** @returns false when the process was killed */
  async #sign(
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
        this.#unansweredCount += 1;
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
      String(serialNumberOf({ certificate: new Certificate(certificate) })),
    );
    const isLost = (certificate: Buffer, index: number) =>
      !recorded.get(serialNumbers[index])?.certificate?.equals(certificate);
    const isMisfiled = ({ certificate, serial_number }: CertificateRow) =>
      certificate &&
      String(serialNumberOf({ certificate: new Certificate(certificate) })) !==
        serial_number;
    return {
      killsAtStart: this.#killsAtStart,
      received: received.length,
      unanswered: this.#unansweredCount,
      lost: received.filter(isLost).length,
      duplicates: received.length - new Set(serialNumbers).size,
      changed: this.#changed,
      misfiled: rows.filter(isMisfiled).length,
      reserved: rows.filter(({ certificate }) => !certificate).length,
      authorities: (await knex(AUTHORITIES)).length,
    };
  }
}

/** @throws the error when it is another one */
function isEnd(error: unknown): boolean {
  if (error instanceof ProcessEndedError) {
    return true;
  }
  throw error;
}
