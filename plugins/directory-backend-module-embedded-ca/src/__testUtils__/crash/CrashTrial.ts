import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import {
  AUTHORITIES,
  CERTIFICATES,
  type CertificateRow,
} from '../../database/rows';
import { compareLog } from '../../issuers/issuanceLog';
import { serialNumberOf } from '../certificateFacts';
import { aliceRequest } from '../requests';
import { TestCa } from '../TestCa';
import type { TestDatabaseKind } from '../TestDatabase';
import { AuthorityProcess, ProcessEndedError } from './AuthorityProcess';
import type { HostOptions } from './authorityHost';
import { SignerProcess } from './SignerProcess';

/** Number of concurrent clients. */
const CLIENTS = 8;

/**
 * Every n-th process is killed while it opens the CA; the others while signing.
 */
const KILLED_AT_START = 5;

/** Number of initial kills, which occur while the CA is being opened. */
const FIRST_AT_START = 4;

/**
 * Maximum time until a kill, in milliseconds, while opening and while signing.
 */
const LONGEST_OPENING_MS = 300;
const SIGNING_MS = 500;

/** Pause of a client after an error, while the signer starts. */
const RETRY_MS = 20;

/**
 * Result of a trial. `lost`, `duplicates`, `changed`, `misfiled`, `onlyInLog` and
 * `onlyInDatabase` must be 0.
 */
export interface CrashCounts {
  readonly kills: number;
  /** Kills of the process that signs. */
  readonly signerKills: number;
  /** Kills while the CA was being opened. */
  readonly killsAtStart: number;
  /** Certificates that clients received. */
  readonly received: number;
  /** Requests without a response, which were repeated. */
  readonly unanswered: number;
  /** Received certificates that are not recorded byte for byte. */
  readonly lost: number;
  /** Serial numbers that were returned for several requests. */
  readonly duplicates: number;
  /**
   * Requests repeated within a minute that received a different certificate.
   */
  readonly changed: number;
  /** Certificates that are recorded with a wrong serial number. */
  readonly misfiled: number;
  /**
   * Reserved serial numbers without a certificate, which crashes may leave
   * behind.
   */
  readonly reserved: number;
  /**
   * Certificates that were only in the log until the last start imported them.
   */
  readonly imported: number;
  /** Certificates without a record in the database, after the last start. */
  readonly onlyInLog: number;
  /** Certificates without a record in the log. */
  readonly onlyInDatabase: number;
  /** Recorded issuers. */
  readonly issuers: number;
}

/**
 * Kills the CA repeatedly while clients send requests, then compares the
 * received certificates with the recorded ones.
 */
export class CrashTrial {
  readonly #ca: TestCa;
  readonly #options: HostOptions;
  readonly #signer: SignerProcess | undefined;
  readonly #received = new Map<SigningRequest, Buffer>();
  readonly #unanswered = new Set<SigningRequest>();
  #unansweredCount = 0;
  #killsAtStart = 0;
  #signerKills = 0;
  /**
   * Maximum time, in milliseconds, until a kill that must occur before the CA
   * is open.
   */
  #openingMs = LONGEST_OPENING_MS;
  #changed = 0;

  /**
   * @param options - `signer`: in the gateway's process, or in a separate one
   */
  static async run(options: {
    readonly kind: TestDatabaseKind;
    readonly signer: 'file' | 'socket';
    readonly kills: number;
  }): Promise<CrashCounts> {
    const ca = await TestCa.start(options.kind, { tables: 'none' });
    const signer =
      options.signer === 'socket' ? await SignerProcess.create(ca) : undefined;
    try {
      const trial = new CrashTrial(ca, signer);
      await trial.#killRepeatedly(options.kills);
      return { kills: options.kills, ...(await trial.#count()) };
    } finally {
      await signer?.kill();
      await ca.stop();
    }
  }

  private constructor(ca: TestCa, signer: SignerProcess | undefined) {
    this.#ca = ca;
    this.#signer = signer;
    this.#options = {
      database: ca.database.config,
      embedded: ca.block(signer ? { socket: signer.socket } : {}),
    };
  }

  async #killRepeatedly(total: number): Promise<void> {
    // The next process loads its code while this one runs.
    let next = AuthorityProcess.load();
    try {
      for (let kills = 1; kills <= total; kills++) {
        const current = next;
        await current.loaded();
        await this.#signer?.start();
        next = AuthorityProcess.load();
        await (kills <= FIRST_AT_START || kills % KILLED_AT_START === 0
          ? this.#killOpening(current)
          : this.#killSigning(current, kills));
      }
      await this.#signer?.start();
      await next.start(this.#options);
      for (const request of this.#unanswered) {
        await this.#sign(next, request);
      }
    } finally {
      await next.kill();
    }
  }

  /**
   * The time for opening the CA depends on the machine and its load: a late
   * kill makes the next one earlier, and an early one makes it later, so that
   * kills are spread over this time.
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

  /**
   * Without a separate signer, kills only the gateway. Otherwise kills the
   * gateway, both, or only the signer, which is restarted while the gateway
   * runs.
   */
  async #killSigning(
    authority: AuthorityProcess,
    kills: number,
  ): Promise<void> {
    try {
      await authority.start(this.#options);
      const clients = Array.from({ length: CLIENTS }, () =>
        this.#use(authority),
      );
      await sleep(randomInt(SIGNING_MS));
      if (this.#signer && kills % 3 > 0) {
        await this.#signer.kill();
        this.#signerKills += 1;
        if (kills % 3 === 1) {
          await this.#signer.start();
          await sleep(SIGNING_MS);
        }
      }
      await authority.kill();
      await Promise.all(clients);
    } finally {
      await authority.kill();
    }
  }

  /** Runs a client, which sends requests until the process is killed. */
  async #use(authority: AuthorityProcess): Promise<void> {
    for (;;) {
      const request = this.#nextRequest();
      switch (await this.#sign(authority, request)) {
        case 'ended':
          return;
        case 'failed':
          await sleep(RETRY_MS);
          break;
        default:
      }
    }
  }

  /**
   * First repeats requests without a response, and sometimes one with a
   * response.
   */
  #nextRequest(): SigningRequest {
    const [unanswered] = this.#unanswered;
    if (unanswered) {
      this.#unanswered.delete(unanswered);
      return unanswered;
    }
    const last = [...this.#received.keys()].at(-1);
    return last && randomInt(10) === 0 ? last : aliceRequest();
  }

  async #sign(
    authority: AuthorityProcess,
    request: SigningRequest,
  ): Promise<'received' | 'failed' | 'ended'> {
    try {
      const certificate = await authority.sign(request);
      const before = this.#received.get(request);
      this.#changed += before && !before.equals(certificate) ? 1 : 0;
      this.#received.set(request, before ?? certificate);
      return 'received';
    } catch (error) {
      if (!this.#received.has(request)) {
        this.#unansweredCount += 1;
        this.#unanswered.add(request);
      }
      if (error instanceof ProcessEndedError) {
        return 'ended';
      }
      if (this.#signer && /AuthorityUnavailable/.test(String(error))) {
        return 'failed';
      }
      throw error;
    }
  }

  async #count(): Promise<Omit<CrashCounts, 'kills'>> {
    const { knex } = this.#ca.database;
    await this.#signer?.start();
    const node = await this.#ca.open(this.#options.embedded);
    const { signer } = await node.issuers.require();
    const compare = async () =>
      await compareLog({
        database: knex,
        logged: signer.loggedCertificates(),
        issuerIds: [this.#ca.intermediate.id],
      });
    const before = await compare();
    await node.maintain();
    const after = await compare();
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
      signerKills: this.#signerKills,
      killsAtStart: this.#killsAtStart,
      received: received.length,
      unanswered: this.#unansweredCount,
      lost: received.filter(isLost).length,
      duplicates: received.length - new Set(serialNumbers).size,
      changed: this.#changed,
      misfiled: rows.filter(isMisfiled).length,
      reserved: rows.filter(({ certificate }) => !certificate).length,
      imported: before.onlyInLog.length,
      onlyInLog: after.onlyInLog.length,
      onlyInDatabase: after.onlyInDatabase.length,
      issuers: (await knex(AUTHORITIES)).length,
    };
  }
}

/** @throws the error when it is not a ProcessEndedError */
function isEnd(error: unknown): boolean {
  if (error instanceof ProcessEndedError) {
    return true;
  }
  throw error;
}
